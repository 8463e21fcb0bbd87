/* outline.c: closed curves around the inner nodes of a grid. */
#include "statistics/regions/outline.h"

/* A line begins at node (i, j) and goes on along x or y. */
struct line {
    size_t i, j;
    bool along_y;
};

static size_t lines_along_x(const struct outline *o)
{
    return (o->nx - 1) * o->ny;
}

size_t outline_lines(const struct outline *o)
{
    return lines_along_x(o) + o->nx * (o->ny - 1);
}

static struct line line_of(const struct outline *o, size_t number)
{
    const size_t first = lines_along_x(o);
    if (number < first) return (struct line){number % (o->nx - 1), number / (o->nx - 1), false};
    return (struct line){(number - first) % o->nx, (number - first) / o->nx, true};
}

static size_t number_of(const struct outline *o, struct line line)
{
    return line.along_y ? lines_along_x(o) + line.j * o->nx + line.i : line.j * (o->nx - 1) + line.i;
}

bool outline_crossed(const struct outline *o, size_t number, size_t *inner, size_t *outer)
{
    const struct line line = line_of(o, number);
    const size_t begin = line.j * o->nx + line.i, end = begin + (line.along_y ? o->nx : 1);
    if (o->inside[begin] == o->inside[end]) return false;
    *inner = o->inside[begin] ? begin : end;
    *outer = o->inside[begin] ? end : begin;
    return true;
}

/* Of the corners in the order of a walk around the cell, each second one is inside. */
bool outline_is_saddle(const struct outline *o, size_t cell)
{
    const size_t node = cell / (o->nx - 1) * o->nx + cell % (o->nx - 1);
    const unsigned char *row = o->inside + node, *next = row + o->nx;
    return row[0] == next[1] && row[1] == next[0] && row[0] != row[1];
}

/* The cell on the way, by its first corner: inner nodes stay on the left. */
static struct line cell_after(const struct outline *o, struct line line, size_t inner)
{
    const bool begins_inside = inner == line.j * o->nx + line.i;
    if (line.along_y)
        line.i -= begins_inside ? 1 : 0; /* going along -x, else x */
    else
        line.j -= begins_inside ? 0 : 1; /* going along y, else -y */
    return line;
}

/* The other line of a cell at one of its corners. */
static struct line other_at(const struct outline *o, struct line cell, struct line line, size_t corner)
{
    const size_t i = corner % o->nx, j = corner / o->nx;
    return line.along_y ? (struct line){cell.i, j, false} : (struct line){i, cell.j, true};
}

size_t outline_next(const struct outline *o, size_t number)
{
    const struct line line = line_of(o, number);
    size_t inner, outer, none;
    if (!outline_crossed(o, number, &inner, &outer)) return number;
    const struct line cell = cell_after(o, line, inner);
    const size_t cell_number = cell.j * (o->nx - 1) + cell.i;
    if (outline_is_saddle(o, cell_number))
        return number_of(o, other_at(o, cell, line, o->joined[cell_number] ? outer : inner));
    const size_t beside[2] = {number_of(o, other_at(o, cell, line, inner)),
                              number_of(o, other_at(o, cell, line, outer))},
                 opposite = number_of(
                     o, line.along_y ? (struct line){line.i == cell.i ? cell.i + 1 : cell.i, cell.j, true}
                                     : (struct line){cell.i, line.j == cell.j ? cell.j + 1 : cell.j, false});
    for (int k = 0; k < 2; k++)
        if (outline_crossed(o, beside[k], &inner, &none)) return beside[k];
    return opposite;
}
