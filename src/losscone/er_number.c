/* er_number.c: see er_number.h. Numbers are brought into the form that base/number.h takes: no plus, no zeros in front, a digit on each side of the point. */
#include "losscone/er_number.h"

#include "base/number.h"

#define LONGEST 1000 /* more digits than any number needs to be distinct from its neighbours */

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool er_number_slow(const char *at, const char *end, double *value)
{
    char text[LONGEST + 4], *out = text;
    if (end - at > LONGEST) return false;
    if (at < end && *at == '-') *out++ = '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *const first = at;
    while (at < end && is_digit(*at)) at++;
    const bool before = at > first;
    const char *shown = first;
    while (shown < at && *shown == '0') shown++;
    if (shown == at) *out++ = '0';
    memcpy(out, shown, (size_t)(at - shown));
    out += at - shown;
    if (at < end && *at == '.') {
        const char *const point = at++;
        while (at < end && is_digit(*at)) at++;
        if (at - point > 1) {
            memcpy(out, point, (size_t)(at - point));
            out += at - point;
        } else if (!before) {
            return false;
        }
    } else if (!before) {
        return false;
    }
    memcpy(out, at, (size_t)(end - at)); /* the exponent, if there is one: anything else is refused below */
    out += end - at;
    struct decimal decimal;
    const char *reason;
    if (number_scan(text, out, &decimal, &reason) != out || reason != NULL) return false;
    *value = number_value(&decimal, text, (size_t)(out - text));
    return *value - *value == 0.0;
}
