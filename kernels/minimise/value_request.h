/* value_request.h: what model_value (newton.h) is asked for: 0, the value; 1, also what derivatives of both
 * orders need; or the value and the gradient alone. */
#pragma once

#define MODEL_SLOPE 2u
