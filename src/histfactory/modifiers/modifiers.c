/* modifiers.c: modifiers by type; descriptions of plain factors. */
#include "histfactory/modifiers/modifiers.h"
#include "histfactory/workspace/schema_check.h"

#include <math.h>

const struct hf_modifier_kind hf_modifier_normfactor = {.name = "normfactor",
                                                        .action = HF_FACTOR,
                                                        .shares = HF_BIT(HF_NORMFACTOR),
                                                        .init = 1.0,
                                                        .lower = 0.0,
                                                        .upper = 10.0};

const struct hf_modifier_kind hf_modifier_shapefactor = {.name = "shapefactor",
                                                         .action = HF_FACTORS,
                                                         .extent = HF_EACH_BIN,
                                                         .shares = HF_BIT(HF_SHAPEFACTOR),
                                                         .init = 1.0,
                                                         .lower = 0.0,
                                                         .upper = 10.0};

const struct hf_modifier_kind hf_modifier_lumi = {.name = "lumi",
                                                  .action = HF_FACTOR,
                                                  .constraint = HF_GAUSSIAN,
                                                  .shares = HF_BIT(HF_LUMI),
                                                  .only_name = "lumi",
                                                  .sigma_given = true,
                                                  .all_given = true,
                                                  .init = NAN,
                                                  .lower = NAN,
                                                  .upper = NAN,
                                                  .aux = NAN};

#define HF_KIND_OF_TYPE(NAME, name) [HF_##NAME] = &hf_modifier_##name,
const struct hf_modifier_kind *const hf_kinds[HF_TYPE_COUNT] = {HF_MODIFIERS(HF_KIND_OF_TYPE)};

#define HF_PUBLIC_TYPE(NAME, name) HF_PUBLIC_##NAME = PARITAS_MODIFIER_##NAME,
enum { HF_MODIFIERS(HF_PUBLIC_TYPE) };
#define HF_COUNT_ONE(...) +1
_Static_assert(0 PARITAS_MODIFIER_LIST(HF_COUNT_ONE) == HF_TYPE_COUNT, "modifiers of the public list");

hf_type hf_type_of(const char *text)
{
    int type = 0;
    while (type < HF_TYPE_COUNT && !hf_same(text, hf_kinds[type]->name)) type++;
    return (hf_type)type;
}
