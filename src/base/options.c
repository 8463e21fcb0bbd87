/* options.c: what structs of options allow, by their lists. */
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* No bound is so large that the rounding of a 64-bit number matters. */
static double number_of(const paritas_option *option, const void *options)
{
    union {
        double real;
        uint64_t wide;
        unsigned narrow;
        int integer;
    } member;
    memcpy(&member, (const char *)options + option->offset, option->size);
    if (option->type == PARITAS_FIELD_REAL) return member.real;
    if (option->type != PARITAS_FIELD_UNSIGNED) return (double)member.integer;
    return option->size == sizeof member.wide ? (double)member.wide : (double)member.narrow;
}

static bool is_within(const paritas_option *option, double number)
{
    const paritas_bound lower = option->lower, upper = option->upper;
    if (number == 0.0 && lower.or_zero) return true;
    return isfinite(number) &&
           (!lower.exists || number > lower.value || (number == lower.value && !lower.open)) &&
           (!upper.exists || number < upper.value || (number == upper.value && !upper.open));
}

static paritas_status refuse(paritas_context *context, const char *argument, const paritas_option *option,
                             double number)
{
    const paritas_bound lower = option->lower, upper = option->upper;
    char from[48] = "a finite number", to[48] = "";
    if (lower.exists)
        snprintf(from, sizeof from, "%s%s %.10g", lower.or_zero ? "0 or " : "",
                 lower.open ? "above" : "at least", lower.value);
    if (upper.exists) snprintf(to, sizeof to, "%s %.10g", upper.open ? "below" : "at most", upper.value);
    const bool both = lower.exists && upper.exists;
    return paritas_refuse(context, "%s: `%s` is %.10g%s%s; it must be %s%s%s", argument, option->name, number,
                          option->unit[0] != '\0' ? " " : "", option->unit, upper.exists && !both ? to : from,
                          both ? " and " : "", both ? to : "");
}

/* Is it the lower bound of the option below it: ratio_lower of ratio_upper? */
static bool is_pair(const paritas_option_list *list, size_t i)
{
    if (i + 1 == list->n_options) return false;
    const char *lower = strstr(list->options[i].name, "_lower"), *name = list->options[i + 1].name;
    const size_t length = lower ? (size_t)(lower - list->options[i].name) : 0;
    return lower && strncmp(list->options[i].name, name, length) == 0 && strcmp(name + length, "_upper") == 0;
}

/* A struct of an earlier version lacks the last options. */
static paritas_status check(paritas_context *context, const paritas_option_list *list, const char *argument,
                            const void *options)
{
    size_t size;
    memcpy(&size, options, sizeof size);
    for (size_t i = 0; i < list->n_options; i++) {
        const paritas_option *option = &list->options[i];
        if (option->offset + option->size > size) break;
        const double number = number_of(option, options);
        if (option->type == PARITAS_FIELD_WORD) {
            if (!paritas_enumeration_word(option->enumeration, (int)number))
                return paritas_refuse(context, "%s: `%s` %.10g is not known", argument, option->name, number);
            continue;
        }
        if (is_pair(list, i)) {
            const double upper = number_of(option + 1, options);
            if (!isfinite(number) || !isfinite(upper) || !(number <= upper))
                return paritas_refuse(context, "%s: `%s` %.10g and `%s` %.10g are not bounds", argument,
                                      option->name, number, option[1].name, upper);
        }
        if (!is_within(option, number)) return refuse(context, argument, option, number);
    }
    return PARITAS_OK;
}

paritas_status options_read(paritas_context *context, const paritas_option_list *list, const char *argument,
                            const void *given, void *own)
{
    TRY(sized_take(context, list->name, argument, given, own, list->size));
    return check(context, list, argument, own);
}

paritas_status paritas_options_check(paritas_context *context, const char *name, const void *options)
{
    REQUIRE(context, name, options);
    const paritas_option_list *list = paritas_option_list_find(name);
    if (!list)
        return paritas_fail(context, PARITAS_NOT_FOUND, "name: there is no struct of options %s", name);
    TRY(sized_check(context, name, "options", 1, options, list->size));
    return check(context, list, "options", options);
}
