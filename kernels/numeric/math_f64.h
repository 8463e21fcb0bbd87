/* math_f64.h: what math.h needs to know of a double, and the polynomials in f64.
 * The polynomials come from tools/make_polynomials.py 64; the comments give their largest weighted errors. */
#ifndef PARITAS_NUMERIC_MATH_F64_H
#define PARITAS_NUMERIC_MATH_F64_H

/* the layout */
#define M_MANTISSA 52
#define M_EXPONENTS 0x7ff
#define M_MAGNITUDE_BITS 0x7fffffffffffffff
#define M_INFINITY_BITS 0x7ff0000000000000
#define M_NAN_BITS 0x7ff8000000000000
#define M_ONE_BITS 0x3ff0000000000000
#define M_INTEGER_BITS 0x4330000000000000  /* of 2^52, where the last bit counts 1 */
#define M_SMALLEST 2.2250738585072014e-308 /* normal */
#define M_TINIEST 4.9406564584124654e-324  /* that is not taken for zero */

#define M_LN2_HI 0.69314718055989033 /* 42 bits: k M_LN2_HI is exact */
#define M_LN2_LO 5.4979230187083712e-14
#define M_LOG2_E 1.4426950408889634

#define M_EXP_MAGIC 6755399441056766.0         /* 3/2 2^52 + 1022 */
#define M_EXP_MAGIC_SHIFTED 6755399441056894.0 /* 128 more */
#define M_EXP_UNSHIFT 5.8774717541114375e-39   /* 2^(1-128) */
#define M_EXP_SHIFTED -690.0
#define M_EXP_LEAST -745.13321910194111
#define M_EXP_LARGEST 709.78271289338397

#define M_FOUR_THIRDS 1.3333333333333333
#define M_THIRD 0.33333333333333331
#define M_LOG_OFFSET 4503599627371519.0        /* 2^52 + 1023 */
#define M_LOG_SCALE 18014398509481984.0        /* 2^54 */
#define M_LOG_OFFSET_SCALED 4503599627371573.0 /* 54 more */
#define M_LOG1P_OFFSET 4503599627371517.0      /* 2^52 + 1021 */
#define M_LOG1P_IS_X 8.6736173798840355e-19    /* 2^-60 */

#define M_ERFCX_POLE 4.0
#define M_ERFC_ZERO 28.0
#define M_TAIL_ZERO 39.0
#define M_LARGE 1e300
#define M_LGAMMA_LARGEST 2.5599833278516383e305

#define M_DEGREES_LARGEST 1e14
#define M_DEGREES_MAGIC 6755399441055744.0 /* 3/2 2^52 */
#define M_NINETIETH 0.011111111111111112
#define M_RADIANS_HI 0.017453292519943295
#define M_RADIANS_LO 2.9486522708701686e-19
#define M_DEGREES_HI 57.29577951308232
#define M_DEGREES_LO -1.9878495670576285e-15

/* (log((1 + s) / (1 - s)) - 2 s) / s^3 in x = s^2, weight s, on [0, 0.04]: 3.23e-18 */
FN pack m_log_tail(pack x)
{
    pack z = x * x;
    pack even = PK(0.13183909083395856);
    even = PFMA(even, z, PK(0.18181691664518684));
    even = PFMA(even, z, PK(0.28571428561157247));
    even = PFMA(even, z, PK(0.66666666666666641));
    pack odd = PK(0.13783320512982145);
    odd = PFMA(odd, z, PK(0.15390394302135832));
    odd = PFMA(odd, z, PK(0.22222223788856152));
    odd = PFMA(odd, z, PK(0.40000000000030211));
    return PFMA(odd, x, even);
}

/* (e^x - 1 - x) / x^2, weight x^2, on [-log(2)/2, log(2)/2]: 7.53e-18 */
FN pack m_exp_tail(pack x)
{
    pack z = x * x;
    pack even = PK(2.7631562315299112e-7);
    even = PFMA(even, z, PK(2.4801489198604641e-5));
    even = PFMA(even, z, PK(0.0013888888947683137));
    even = PFMA(even, z, PK(0.0416666666665131));
    even = PFMA(even, z, PK(0.50000000000000133));
    pack odd = PK(2.5118106669410106e-8);
    odd = PFMA(odd, z, PK(2.7557215534777752e-6));
    odd = PFMA(odd, z, PK(0.00019841269918230331));
    odd = PFMA(odd, z, PK(0.008333333333306818));
    odd = PFMA(odd, z, PK(0.16666666666666699));
    return PFMA(odd, x, even);
}

/* erf(v) / v - 1 in x = v^2, on [0, 1]: 1.5e-17 */
FN pack m_erf_ratio(pack x)
{
    pack y = PK(1.6377679189053884e-10);
    y = PFMA(y, x, PK(-1.7627796387530081e-9));
    y = PFMA(y, x, PK(1.630246073820049e-8));
    y = PFMA(y, x, PK(-1.6598145792488727e-7));
    y = PFMA(y, x, PK(1.648471292271764e-6));
    y = PFMA(y, x, PK(-1.492709383669417e-5));
    y = PFMA(y, x, PK(0.00012055394290297831));
    y = PFMA(y, x, PK(-0.00085483287342375284));
    y = PFMA(y, x, PK(0.0052239776556673488));
    y = PFMA(y, x, PK(-0.026866170648279286));
    y = PFMA(y, x, PK(0.11283791670972056));
    y = PFMA(y, x, PK(-0.37612638903184109));
    y = PFMA(y, x, PK(0.12837916709551259));
    return y;
}

/* (1 + 2 v) e^(v^2) erfc(v) in x = (v - p) / (v + p), p = M_ERFCX_POLE, on [-1, 1]: 5.93e-17 */
FN pack m_erfcx_mapped(pack x)
{
    pack y = PK(9.0125590377178838e-10);
    y = PFMA(y, x, PK(1.5801399008048152e-9));
    y = PFMA(y, x, PK(-1.2175564258439934e-8));
    y = PFMA(y, x, PK(-1.6406407098846587e-8));
    y = PFMA(y, x, PK(1.0591230023825068e-7));
    y = PFMA(y, x, PK(7.1235392546280646e-8));
    y = PFMA(y, x, PK(-8.2048962086906465e-7));
    y = PFMA(y, x, PK(2.9790380117057439e-7));
    y = PFMA(y, x, PK(5.7060668351871134e-6));
    y = PFMA(y, x, PK(-1.1225010739755621e-5));
    y = PFMA(y, x, PK(-2.4397434838739991e-5));
    y = PFMA(y, x, PK(0.00015062304860277465));
    y = PFMA(y, x, PK(-0.00019925726489010385));
    y = PFMA(y, x, PK(-0.00075777369043119941));
    y = PFMA(y, x, PK(0.0050319700964631666));
    y = PFMA(y, x, PK(-0.016197733985001531));
    y = PFMA(y, x, PK(0.037167515522274888));
    y = PFMA(y, x, PK(-0.066330365819870826));
    y = PFMA(y, x, PK(0.093732834999447331));
    y = PFMA(y, x, PK(-0.10103906603589337));
    y = PFMA(y, x, PK(0.06809705425465569));
    y = PFMA(y, x, PK(0.015379652102611168));
    y = PFMA(y, x, PK(-0.13962111684056214));
    y = PFMA(y, x, PK(1.2329951186255526));
    return y;
}

/* lgamma(2 + x) / x, on [-0.5, 0.5]: 1.32e-17 */
FN pack m_lgamma_ratio(pack x)
{
    pack y = PK(6.5702940186162102e-8);
    y = PFMA(y, x, PK(-1.3415692707304219e-7));
    y = PFMA(y, x, PK(2.0077788940307515e-7));
    y = PFMA(y, x, PK(-4.3032358715218301e-7));
    y = PFMA(y, x, PK(9.5900093056143571e-7));
    y = PFMA(y, x, PK(-2.0449352664170459e-6));
    y = PFMA(y, x, PK(4.3740648282376953e-6));
    y = PFMA(y, x, PK(-9.4384548983463611e-6));
    y = PFMA(y, x, PK(2.0507317776973039e-5));
    y = PFMA(y, x, PK(-4.4926351665729438e-5));
    y = PFMA(y, x, PK(9.9457504155990101e-5));
    y = PFMA(y, x, PK(-0.00022315475069661732));
    y = PFMA(y, x, PK(0.00050966952517025475));
    y = PFMA(y, x, PK(-0.0011927539120033836));
    y = PFMA(y, x, PK(0.0028905103307298409));
    y = PFMA(y, x, PK(-0.0073855510286680963));
    y = PFMA(y, x, PK(0.020580808427784696));
    y = PFMA(y, x, PK(-0.067352301053198144));
    y = PFMA(y, x, PK(0.3224670334241132));
    y = PFMA(y, x, PK(0.42278433509846713));
    return y;
}

/* the rest of Stirling's formula times v, in x = 1 / v^2, on [0, 0.015625]: 4.63e-18 */
FN pack m_stirling(pack x)
{
    pack y = PK(0.004426738911424536);
    y = PFMA(y, x, PK(-0.0018607372558712707));
    y = PFMA(y, x, PK(0.00084095561136235441));
    y = PFMA(y, x, PK(-0.00059523248196023182));
    y = PFMA(y, x, PK(0.00079365077502778025));
    y = PFMA(y, x, PK(-0.0027777777777547794));
    y = PFMA(y, x, PK(0.083333333333333329));
    return y;
}

/* normal quantile of 1/2 + v over v, in x = v^2, on [0, 0.0625]: 5.57e-7 */
FN pack m_quantile_centre(pack x)
{
    pack y = PK(81.925900912388585);
    y = PFMA(y, x, PK(13.500951595378707));
    y = PFMA(y, x, PK(5.8244080465785313));
    y = PFMA(y, x, PK(2.6245087448513602));
    y = PFMA(y, x, PK(2.506628832064401));
    return y;
}

/* minus the normal quantile of p, less s, in x = 1 / s, s = sqrt(-2 log p), on [0.025641, 0.600561]:
 * 6.72e-5 */
FN pack m_quantile_tail(pack x)
{
    pack y = PK(-2450.4850501536034);
    y = PFMA(y, x, PK(7408.9012684574973));
    y = PFMA(y, x, PK(-9603.5178233870229));
    y = PFMA(y, x, PK(6992.9621876259434));
    y = PFMA(y, x, PK(-3156.4307295164126));
    y = PFMA(y, x, PK(924.67674198909685));
    y = PFMA(y, x, PK(-182.1228656074195));
    y = PFMA(y, x, PK(26.571997406999451));
    y = PFMA(y, x, PK(-4.6166771814580416));
    y = PFMA(y, x, PK(-0.014074169696894923));
    return y;
}

/* (sin t - t) / t^3 in x = t^2, weight t^2, on [0, 0.62]: 3.76e-18 */
FN pack m_sin_tail(pack x)
{
    pack y = PK(1.589500474919411e-10);
    y = PFMA(y, x, PK(-2.5050728092784075e-8));
    y = PFMA(y, x, PK(2.7557313506237273e-6));
    y = PFMA(y, x, PK(-0.00019841269829291733));
    y = PFMA(y, x, PK(0.0083333333333217956));
    y = PFMA(y, x, PK(-0.1666666666666663));
    return y;
}

/* (cos t - 1 + t^2 / 2) / t^4 in x = t^2, weight t^4, on [0, 0.62]: 5.62e-20 */
FN pack m_cos_tail(pack x)
{
    pack y = PK(-1.1358442106189341e-11);
    y = PFMA(y, x, PK(2.0875700679434923e-9));
    y = PFMA(y, x, PK(-2.7557314191619513e-7));
    y = PFMA(y, x, PK(2.4801587288946571e-5));
    y = PFMA(y, x, PK(-0.0013888888888873303));
    y = PFMA(y, x, PK(0.041666666666666595));
    return y;
}

/* (asin s - s) / s^3 in x = s^2, weight s^2, on [0, 0.2501]: 1.54e-17 */
FN pack m_asin_tail(pack x)
{
    pack y = PK(0.031983345595363706);
    y = PFMA(y, x, PK(-0.016329062473700168));
    y = PFMA(y, x, PK(0.019595820819118284));
    y = PFMA(y, x, PK(0.0065029909233529169));
    y = PFMA(y, x, PK(0.012175062130256976));
    y = PFMA(y, x, PK(0.013884332551245875));
    y = PFMA(y, x, PK(0.017359797428758799));
    y = PFMA(y, x, PK(0.022371751820316754));
    y = PFMA(y, x, PK(0.030381959400362351));
    y = PFMA(y, x, PK(0.044642856821857431));
    y = PFMA(y, x, PK(0.075000000003449446));
    y = PFMA(y, x, PK(0.16666666666665375));
    return y;
}

#endif
