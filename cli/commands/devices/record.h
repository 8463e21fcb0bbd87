/* record.h: `parity --record`. */
#pragma once

#include "session/session.h"

/* One line: the machine, the build, and digests of the answers to the same questions for everybody. */
paritas_status record_run(struct session *session);
