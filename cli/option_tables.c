/* option_tables.c: options found in the table of a command. */
#include "option_tables.h"

#include <string.h>

const struct option *find_option(const struct command *command, const char *name, size_t length, char letter)
{
    EACH_OPTION(command, group, option)
    {
        if (letter != 0 && option->letter == letter) return option;
        if (letter == 0 && strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}
