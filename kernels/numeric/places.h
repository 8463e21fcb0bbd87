/* places.h: places in rows and slabs: PLACE takes `size` numbers, PLACE8 starts at a multiple of 8.
 *
 *   enum row { STATUS, PLACE(POINT, 3), PLACE8(ENERGY, 15), SIZE };   0, 1 to 3, 8 to 22, 23 */
#pragma once

#define PLACE(name, size) name, name##_LAST = name + (size) - 1
#define PLACE8(name, size) name##_BEFORE, name = (name##_BEFORE + 7) / 8 * 8, name##_LAST = name + (size) - 1
