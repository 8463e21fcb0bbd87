/* math_f32.h: constants of math.h for float; coefficients: tools/make_polynomials.py 32. */
#pragma once

#define M_MANTISSA 23
#define M_EXPONENTS 0xff
#define M_MAGNITUDE_BITS 0x7fffffff
#define M_INFINITY_BITS 0x7f800000
#define M_NAN_BITS 0x7fc00000
#define M_ONE_BITS 0x3f800000
#define M_INTEGER_BITS 0x4b000000 /* 2^23 */
#define M_SMALLEST 1.17549435e-38 /* normal */
#define M_TINIEST M_SMALLEST      /* nonzero */

#define M_LN2_HI 0.693145752 /* 15 bits: k M_LN2_HI is exact */
#define M_LN2_LO 1.42860677e-06
#define M_LOG2_E 1.44269502

#define M_EXP_MAGIC 12583038.0         /* 3/2 2^23 + 126 */
#define M_EXP_MAGIC_SHIFTED 12583070.0 /* + 32 */
#define M_EXP_UNSHIFT 4.65661287e-10   /* 2^(1-32) */
#define M_EXP_SHIFTED -60.0
#define M_EXP_LEAST -87.3365402
#define M_EXP_LARGEST 88.7228317

#define M_FOUR_THIRDS 1.33333337
#define M_THIRD 0.333333343
#define M_LOG_OFFSET 8388735.0      /* 2^23 + 127 */
#define M_LOG1P_OFFSET 8388733.0    /* 2^23 + 125 */
#define M_LOG1P_IS_X 9.31322575e-10 /* 2^-30 */

#define M_ERFCX_POLE 2.0
#define M_ERFC_ZERO 11.0
#define M_TAIL_ZERO 15.0
#define M_LARGE 1e30
#define M_LGAMMA_LARGEST 4.08500311e36

#define M_DEGREES_LARGEST 1e6
#define M_DEGREES_MAGIC 12582912.0 /* 3/2 2^23 */
#define M_NINETIETH 0.0111111114
#define M_RADIANS_HI 0.0174532924
#define M_RADIANS_LO 1.35199605e-10
#define M_DEGREES_HI 57.2957802
#define M_DEGREES_LO -6.68802445e-7

#define M_LOG_TAIL_EVEN(FIRST, NEXT) \
    FIRST(0.284921169);              \
    NEXT(0.666666627);
#define M_LOG_TAIL_ODD(FIRST, NEXT) \
    FIRST(0.243501648);             \
    NEXT(0.400010824);
#define M_EXP_TAIL_EVEN(FIRST, NEXT) \
    FIRST(0.00139507197);            \
    NEXT(0.0416662022);              \
    NEXT(0.5);
#define M_EXP_TAIL_ODD(FIRST, NEXT) \
    FIRST(0.00836902484);           \
    NEXT(0.166665182);
#define M_ERF_RATIO(FIRST, NEXT) \
    FIRST(7.92036299e-5);        \
    NEXT(-0.000803076138);       \
    NEXT(0.00519073382);         \
    NEXT(-0.026855126);          \
    NEXT(0.112836182);           \
    NEXT(-0.376126289);          \
    NEXT(0.128379166);
#define M_ERFCX_MAPPED(FIRST, NEXT) \
    FIRST(-2.03977834e-5);          \
    NEXT(6.36408586e-5);            \
    NEXT(0.000222018003);           \
    NEXT(-0.000358665362);          \
    NEXT(-0.00146460207);           \
    NEXT(0.00121815375);            \
    NEXT(0.00872490183);            \
    NEXT(-0.00801928714);           \
    NEXT(-0.0542203411);            \
    NEXT(0.164049506);              \
    NEXT(-0.166030377);             \
    NEXT(-0.0927637666);            \
    NEXT(1.27697837);
#define M_LGAMMA_RATIO(FIRST, NEXT) \
    FIRST(-0.000257206731);         \
    NEXT(0.000570348289);           \
    NEXT(-0.00118416536);           \
    NEXT(0.00287882634);            \
    NEXT(-0.00738643901);           \
    NEXT(0.020581631);              \
    NEXT(-0.0673522651);            \
    NEXT(0.322467029);              \
    NEXT(0.422784328);
#define M_STIRLING(FIRST, NEXT) \
    FIRST(0.000861369073);      \
    NEXT(-0.00277897809);       \
    NEXT(0.0833333358);
#define M_QUANTILE_CENTRE(FIRST, NEXT) \
    FIRST(81.7796326);                 \
    NEXT(13.5216208);                  \
    NEXT(5.8234334);                   \
    NEXT(2.62452579);                  \
    NEXT(2.50662875);
#define M_QUANTILE_TAIL(FIRST, NEXT) \
    FIRST(-2447.18066);              \
    NEXT(7402.40039);                \
    NEXT(-9598.44727);               \
    NEXT(6990.97119);                \
    NEXT(-3156.02002);               \
    NEXT(924.635193);                \
    NEXT(-182.121307);               \
    NEXT(26.5720024);                \
    NEXT(-4.61667728);               \
    NEXT(-0.01407417);
#define M_SIN_TAIL(FIRST, NEXT) \
    FIRST(-0.000195179935);     \
    NEXT(0.00833218824);        \
    NEXT(-0.166666552);
#define M_COS_TAIL(FIRST, NEXT) \
    FIRST(2.44306702e-5);       \
    NEXT(-0.00138873013);       \
    NEXT(0.0416666456);
#define M_ASIN_TAIL(FIRST, NEXT) \
    FIRST(0.0422198027);         \
    NEXT(0.0241481271);          \
    NEXT(0.0454766601);          \
    NEXT(0.0749524906);          \
    NEXT(0.166667536);
