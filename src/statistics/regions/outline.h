/* outline.h: closed curves around the inner nodes of a grid.
 *
 *   o   o   o   o      x inside, o outside. The rim is outside. A curve crosses the lines of the grid between
 *     .---.            an inner and an outer node, and has its inner nodes on the left: outer curves are
 *   o | x |\ o   o     counterclockwise, and those around holes clockwise. In a cell with two inner nodes at
 *     |    \ \         opposite corners its middle says whether they are joined.
 *   o  \ x  x| o */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct outline {
    size_t nx, ny;               /* nodes; node (i, j) has the number j nx + i */
    const unsigned char *inside; /* of the nodes */
    const unsigned char *joined; /* of the cells: (nx - 1) (ny - 1) */
};

/* Lines between neighbouring nodes: first those along x, then those along y. */
size_t outline_lines(const struct outline *outline);
/* The inner and the outer node at the ends of a line. False: the line is not crossed. */
bool outline_crossed(const struct outline *outline, size_t line, size_t *inner, size_t *outer);
/* Has the cell inner nodes at opposite corners alone? */
bool outline_is_saddle(const struct outline *outline, size_t cell);
/* The line that a curve crosses after this one. */
size_t outline_next(const struct outline *outline, size_t line);
