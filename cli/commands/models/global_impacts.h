/* global_impacts.h: ranking --impacts global. */
#pragma once

#include "commands/models/parameter_groups.h"

struct global_impacts;

/* The answer for the model and --groups, in the session's arena. `top`: entries shown; 0: all. */
paritas_status global_analyse(struct session *session, size_t top, struct global_impacts **global);
void global_write(struct session *session, struct writer *writer, const struct global_impacts *global);
void global_describe(struct session *session, const struct global_impacts *global);
