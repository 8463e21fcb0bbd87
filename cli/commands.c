/* commands.c: the table of commands. */
#include "commands.h"

#include <string.h>

const struct command *const commands[] = {
#define ADDRESS(name) &command_##name,
    COMMAND_LIST(ADDRESS)
#undef ADDRESS
        NULL};

/* Does the row stand for this name of the library's? By its list, or spelled alike. */
static bool stands_for(const struct option *row, const char *name, size_t length)
{
    const paritas_option *of = option_of_library(row);
    const char *theirs = of ? of->name : row->name + 2;
    if (strlen(theirs) != length) return false;
    for (size_t i = 0; i < length; i++)
        if ((theirs[i] == '-' ? '_' : theirs[i]) != name[i]) return false;
    return true;
}

static const char *option_of(const char *name, size_t length)
{
    for (size_t i = 0; commands[i]; i++) EACH_OPTION(commands[i], group, option)
        {
            if (stands_for(option, name, length)) return option->name;
        }
    return NULL;
}

char *name_options(size_t room, char *message)
{
    for (char *at = message; (at = strchr(at, '`')); at++) {
        const size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        const char *option = at[1 + length] == '`' ? option_of(at + 1, length) : NULL;
        const size_t wanted = option ? strlen(option) : 0, rest = strlen(at);
        if (!option || (size_t)(at - message) + wanted + rest - length - 2 >= room) continue;
        memmove(at + wanted, at + length + 2, rest - length - 1);
        memcpy(at, option, wanted);
    }
    return message;
}
