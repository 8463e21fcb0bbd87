/* card_groups.h: groups of nuisances, which a card's workspace does not keep. */
#pragma once

#include "datacard/card.h"
#include "base/json/json.h"

/* An object of the groups of a card that was read: lists of names. */
paritas_status card_groups_make(struct card *card, paritas_workspace **groups);
