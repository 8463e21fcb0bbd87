/* paritas_datacard.h: CMS datacards become workspaces.
 *
 * A card is a text of channels, processes, rates and nuisances, with histograms in ROOT files beside it.
 * docs/datacards.md says what each line means, and what is refused. */
#ifndef PARITAS_DATACARD_H
#define PARITAS_DATACARD_H

#include "paritas_workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How cards are read. Start from PARITAS_DATACARD_OPTIONS_DEFAULT. */
typedef struct paritas_datacard_options {
    size_t size;
    const char *mass;    /* what $MASS stands for in names of histograms and files; NULL: "120" */
    paritas_names masks; /* channels that models leave out of the likelihood: paritas_workspace_mask */
    int exact;           /* nonzero: without the roundings that docs/datacards.md lists */
    /* PATTERN:NAME[VALUE,LOW,HIGH]: the parameter NAME scales processes, and r is gone. The pattern is a
     * regular expression for the beginning of CHANNEL/PROCESS. The last map that matches a process holds. The
     * first map of a NAME gives its numbers, later ones NAME alone. In place of NAME, 0 or 1 is a constant
     * factor. */
    paritas_names maps;
} paritas_datacard_options;
#define PARITAS_DATACARD_OPTIONS_DEFAULT PARITAS_INIT(paritas_datacard_options)

/* Reads a card from a file ("-" is standard input). `options` may be NULL. Files of histograms are looked for
 * as the card names them, then beside the card. INVALID_INPUT, as FILE:LINE:COLUMN: a wrong card, or a kind
 * of line that is not read. NOT_FOUND: a mask that is no channel. Freed by paritas_workspace_free. */
PARITAS_API paritas_status paritas_datacard_read(paritas_context *context, const char *path,
                                                 const paritas_datacard_options *PARITAS_OR_NULL options,
                                                 paritas_workspace **workspace);
/* Reads a card from memory. `label` names it in messages. Histograms are looked for in the label's folder. */
PARITAS_API paritas_status paritas_datacard_parse(paritas_context *context, const char *text, size_t length,
                                                  const char *PARITAS_OR_NULL label,
                                                  const paritas_datacard_options *PARITAS_OR_NULL options,
                                                  paritas_workspace **workspace);
/* Reads a JSON document or a card, as the file's first character tells: { and [ begin JSON. */
PARITAS_API paritas_status paritas_document_read(paritas_context *context, const char *path,
                                                 const paritas_datacard_options *PARITAS_OR_NULL options,
                                                 paritas_workspace **workspace);
/* Nonzero: the file begins as a card does, not as JSON. */
PARITAS_API int paritas_is_datacard(const char *path);
/* Several cards become one, as a text. Channels become LABEL_CHANNEL, or LABEL in a card of one channel.
 * The label "." keeps names. NULL or empty: ch1, ch2, .. `labels` may be NULL. Nuisances of one name are one
 * line. The text is for a file in `folder` (NULL: the working folder), from where it finds the histograms.
 * INVALID_INPUT, with the place: a wrong card, or one name with two laws. INVALID_ARGUMENT: two channels of
 * one name, a process that is a signal in one card alone. Freed by paritas_text_free. */
PARITAS_API paritas_status paritas_datacard_combine(paritas_context *context, size_t n,
                                                    const char *PARITAS_OR_NULL const *PARITAS_OR_NULL labels,
                                                    const char *const *paths,
                                                    const char *PARITAS_OR_NULL folder, char **text);
/* Lists parameters that have another name or scale in Combine. The document is an object with Combine's names
 * as keys: {"name": NAME, "scale": s, "offset": o}. The value is s * Combine's value + o. Free it. */
PARITAS_API paritas_status paritas_datacard_names(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  paritas_workspace **names);
/* Lists the groups of a card's nuisances, which its workspace does not keep. The document is an object of
 * names and lists of nuisances, also of those without effect. INVALID_INPUT, as FILE:LINE:COLUMN: a wrong
 * card, a group of an unknown nuisance. Files of histograms are not opened. Free it. */
PARITAS_API paritas_status paritas_datacard_groups(paritas_context *context, const char *path,
                                                   paritas_workspace **groups);

#ifdef __cplusplus
}
#endif
#endif
