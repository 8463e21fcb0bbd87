/* paritas.h: the interface of Paritas for HistFactory models and models that you write.
 *
 * Paritas fits binned likelihoods in HistFactory form (pyhf JSON workspaces), one at a time or by the
 * million. Results have the same bits on every device, lane width, thread count and batch order.
 *
 *   file ─► paritas_workspace ─► paritas_model ─► jobs ─► results ─► statistics
 *           (JSON document)      (frozen)         (fits)             (limits, scans, toys)
 *
 * This header includes all below; each can also be included alone:
 *
 *   paritas_records.h      how enumerations and records are described
 *   paritas_context.h      statuses, contexts, devices
 *   paritas_workspace.h    documents, patches, operations on workspaces
 *   paritas_datacard.h     CMS datacards as workspaces
 *   paritas_model.h        models, and their likelihood at given points
 *   paritas_fit.h          best fits
 *   paritas_statistics.h   tests, limits, scans, rankings by formula
 *   paritas_toys.h         the same by toys
 *   paritas_simplified.h   simplified likelihoods
 *   paritas_unfold.h       regularised unfolding
 *
 * Not included here: paritas_sample.h (draws from posteriors) and paritas_gradient.h (statistics as
 * differentiable functions). Include the headers for electrons at the Moon yourself, too: paritas_er.h,
 * paritas_sweep.h, paritas_losscone.h, paritas_kappa.h and paritas_days.h.
 *
 * Rules for every function:
 *   - It returns PARITAS_OK (0) or a negative status. paritas_error_message(context) then says what happened,
 *     with file and place if there is one. The outcome of a single fit is never an error: it is in
 *     results[i].status.
 *   - An argument that may be NULL is marked PARITAS_OR_NULL, and its comment says what NULL means. So may
 *     an array of no elements. Any other NULL is PARITAS_INVALID_ARGUMENT, with the argument's name. A
 *     function without a status answers NULL, 0 or NaN to it, or does nothing.
 *   - The library prints nothing and never exits. It touches no locale, signal, environment variable or
 *     rounding mode. It starts a process only to try a driver: for paritas_list_devices, for device "auto",
 *     and, if there is a cache, for any device except "cpu". Its one global variable is a counter that
 *     numbers models.
 *   - A context serves one thread at a time; distinct contexts are independent. Workspaces and models are
 *     immutable. Threads may share them, each with a context of its own, while the context that made them is
 *     open.
 *   - Pointers passed in are borrowed until the function returns, unless it says otherwise. The matching
 *     `..._free` releases the result of a `..._create`, `..._read` or `..._parse` function. It takes NULL.
 *   - Structs begin with their size (paritas_records.h).
 *   - Parameters, main data and auxiliary data stand in pyhf's order. A data row is main data, then auxiliary
 *     data, then the templates of a model that has some. Likelihoods are twice the negative logarithm, with
 *     all constants.
 *   - A number that does not exist is NaN, for example the error of a fixed parameter, or the likelihood
 *     outside of the domain.
 */
#ifndef PARITAS_H
#define PARITAS_H

#include "paritas_records.h"
#include "paritas_context.h"
#include "paritas_workspace.h"
#include "paritas_datacard.h"
#include "paritas_model.h"
#include "paritas_fit.h"
#include "paritas_statistics.h"
#include "paritas_toys.h"
#include "paritas_simplified.h"
#include "paritas_unfold.h"

#endif
