/* card_names.h: names of parameters in Combine. */
#pragma once

#include "base/json/json.h"

paritas_status card_names_make(paritas_context *context, const paritas_workspace *workspace,
                               paritas_workspace **names);
