/* option_tables.c: options found in the table of a command. */
#include "option_tables.h"

#include <string.h>

int option_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (int place = 0;; place++) {
        const size_t span = strcspn(choices, "|");
        if (span == length && length > 0 && memcmp(choices, text, length) == 0) return place;
        if (choices[span] == '\0') return -1;
        choices += span + 1;
    }
}

bool group_takes(const struct option_group *group, const struct option *option)
{
    return option->name[0] != '\0' && !(group->without && option_choice(group->without, option->name) >= 0);
}

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

bool is_range(const paritas_option *option)
{
    return option->word[0] != '\0' && strstr(option->name, "_lower") &&
           strcmp(option->word, option[1].word) == 0;
}

const paritas_option *option_of_library(const struct option *row)
{
    const paritas_option_list *list = paritas_option_list_find(row->library);
    for (size_t i = 0; list && i < list->n_options; i++)
        if (strcmp(list->options[i].word, row->name) == 0) return &list->options[i];
    return NULL;
}
