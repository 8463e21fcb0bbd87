/* card_groups.c: see card_groups.h. */
#include "datacard/card_groups.h"

static bool is_known(const struct card *card, const char *name)
{
    for (const struct card_nuisance *one = card->nuisances; one; one = one->next)
        if (card_same(one->name, name)) return true;
    return card_rate_named(card, name) != NULL;
}

static struct json *group_named(paritas_workspace *made, const char *name)
{
    for (struct json *group = made->root->first; group; group = group->next)
        if (card_same(group->key, name)) return group;
    return NULL;
}

static bool has(const struct json *group, const char *name)
{
    for (const struct json *member = group->first; member; member = member->next)
        if (json_text_is(member, name)) return true;
    return false;
}

/* NAME group = NUISANCE ..., or += */
static paritas_status add(struct card *card, const struct card_line *line, paritas_workspace *made)
{
    const char *name = line->words[0].text;
    const bool more = card_same(line->words[2].text, "+=");
    struct json *group = group_named(made, name);
    if (more != (group != NULL))
        return card_refuse(card, line, 2, "the group \"%.100s\" %s", name,
                           more ? "has no line above: write = here" : "has a line above: write += here");
    TRY(card_check_name(card, line, 0));
    if (!group) {
        group = json_new(made, JSON_ARRAY);
        if (!group || !json_set(made, made->root, name, group)) return paritas_fail_memory(card->context);
    }
    for (uint32_t k = 3; k < line->n; k++) {
        const char *member = card_parameter_name(card, line->words[k].text);
        if (!member) return paritas_fail_memory(card->context);
        if (!is_known(card, member))
            return card_refuse(card, line, k, "no nuisance is \"%.100s\": mend the name", member);
        if (has(group, member)) continue;
        struct json *text = json_new_text(made, member);
        if (!text || !json_append(group, text)) return paritas_fail_memory(card->context);
    }
    return PARITAS_OK;
}

paritas_status card_groups_make(struct card *card, paritas_workspace **groups)
{
    paritas_workspace *made = json_open(card->context, card->path);
    if (!made) return paritas_fail_memory(card->context);
    made->root = json_new(made, JSON_OBJECT);
    paritas_status status = made->root ? PARITAS_OK : paritas_fail_memory(card->context);
    for (const struct card_line *line = card->rate->next; line && status == PARITAS_OK; line = line->next)
        if (line->n > 2 && card_same(line->words[1].text, "group")) status = add(card, line, made);
    return json_hand_out(status, made, groups);
}
