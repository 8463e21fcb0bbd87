/* oracle.h: what the numeric functions should have returned, from MPFR. */
#ifndef PARITAS_TESTS_NUMERIC_ORACLE_H
#define PARITAS_TESTS_NUMERIC_ORACLE_H

/* Both in their own kind of unit: `ulp` in units in the last place of the exact result, of its subnormal
 * neighbours where it is subnormal; `absolute` as it is. Infinities and NaN count 0 where they are due, else
 * infinity. */
struct oracle_error {
    double ulp, absolute;
};

/* The error of `got` as a double, or as a float when digits is 24 (53: double), for function `function` of
 * the list in variant.h at x. */
struct oracle_error oracle_error(int function, int digits, double x, double got);

/* Releases what MPFR keeps between calls. */
void oracle_close(void);

#endif
