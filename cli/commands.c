/* commands.c: the table of commands. */
#include "commands.h"

#include <string.h>

const struct command *const commands[] = {
#define ADDRESS(name) &command_##name,
    COMMAND_LIST(ADDRESS)
#undef ADDRESS
        NULL};

static bool is_option(const char *name, size_t length)
{
    for (size_t i = 0; commands[i]; i++)
        if (find_option(commands[i], name, length, 0)) return true;
    return false;
}

char *name_options(char *message)
{
    for (char *at = message; (at = strchr(at, '`')); at++) {
        char option[64] = "--";
        const size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (at[1 + length] != '`' || length + 2 > sizeof option) continue;
        for (size_t i = 0; i < length; i++) option[2 + i] = at[1 + i] == '_' ? '-' : at[1 + i];
        if (is_option(option, length + 2)) memcpy(at, option, length + 2);
    }
    return message;
}
