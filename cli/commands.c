/* commands.c: the table of commands. */
#include "commands.h"

#include <string.h>

const struct command *const commands[] = {
#define ADDRESS(name) &command_##name,
    COMMAND_LIST(ADDRESS)
#undef ADDRESS
        NULL};

/* Does the row stand for this name of the library's? By its list, or spelled alike; one that is repeated has
 * no s at its end. */
static bool stands_for(const struct option *row, const char *name, size_t length)
{
    const paritas_option *of = option_of_library(row);
    const char *theirs = of ? of->name : row->name + 2;
    const size_t own = strlen(theirs);
    if (own != length && !(own + 1 == length && name[own] == 's' && !of)) return false;
    for (size_t i = 0; i < own; i++)
        if ((theirs[i] == '-' ? '_' : theirs[i]) != name[i]) return false;
    return true;
}

static const char *option_in(const struct command *command, const char *name, size_t length)
{
    EACH_OPTION(command, group, option)
    {
        if (stands_for(option, name, length)) return option->name;
    }
    return NULL;
}

/* Looks at the command first, then at all. */
static const char *option_of(const struct command *command, const char *name, size_t length)
{
    const char *found = command ? option_in(command, name, length) : NULL;
    for (size_t i = 0; commands[i] && !found; i++) found = option_in(commands[i], name, length);
    return found;
}

char *name_options(const struct command *command, size_t room, char *message)
{
    for (char *at = message; (at = strchr(at, '`')); at++) {
        const size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        const char *option = at[1 + length] == '`' ? option_of(command, at + 1, length) : NULL;
        const size_t wanted = option ? strlen(option) : 0, rest = strlen(at);
        if (!option || (size_t)(at - message) + wanted + rest - length - 2 >= room) continue;
        memmove(at + wanted, at + length + 2, rest - length - 1);
        memcpy(at, option, wanted);
    }
    return message;
}
