/* other_programs.h: commands and options of other programs, and ours. */
#pragma once

#include "option_tables.h"

/* Is one of the words of `names`, between bars, this one? */
bool is_one_of(const char *names, const char *word, size_t length);

/* Prints after "has no option --n-toys" what to write instead, "; paritas says --ntoys N", or the nearest
 * option of the command. Nothing where no option is near. `value` follows the word; NULL: none. */
void suggest_option(char *text, size_t room, const struct command *command, const char *word, size_t length,
                    const char *value);

/* The command for a method of combine, ": -M Impacts is `paritas ranking` here". Nothing for others. */
void suggest_method(char *text, size_t room, const char *method);

/* The same after "there is no command 'upper-limit'". */
void suggest_command(char *text, size_t room, const struct command *const *commands, const char *name);
