/* day_files.h: the days that a command line asks for. */
#pragma once

#include "session/session.h"
#include "paritas_days.h"

/* --year, --month, --day */
extern const struct option options_days[];
#define GROUP_DAYS {"Days", options_days}

/* Days among the operands for the dates asked for; free with paritas_days_free. */
paritas_status find_days(struct session *session, paritas_days **days);
/* Makes a folder with its parents, unless it is there. It must be writable. */
paritas_status make_folder(struct session *session, const char *folder);
