// The constants of the math functions, for expand_math and the code generators. Polynomial coefficients are
// listed lowest power first. They are minimax fits (Remez) of the relative error; each coefficient was
// rounded to the format before the higher ones were fitted again. The trailing comments are the maximum
// errors of the polynomials, without rounding errors of their evaluation.
#pragma once

#include <cstdint>
#include <span>

namespace volley::passes::math {

/// One number per format.
struct Number {
    double f32;
    double f64;
};

/// A number as a sum of two, each exactly representable in its format.
struct SplitNumber {
    Number hi;
    Number lo;
};

/// The coefficients for each format; empty if the function is computed in another way.
struct Table {
    std::span<const double> f32;
    std::span<const double> f64;
};

/// e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2; relative to e^r - 1
inline constexpr double exp_tail_f32[] = {  // 2^-26.07
    0.49999997, 0.16666539, 0.0416677482, 8.36702436e-3, 1.38401461e-3};
inline constexpr double exp_tail_f64[] = {  // 2^-55.43
    0.50000000000000056,   0.16666666666666599,   0.041666666666571893,  8.3333333333792513e-3,
    1.3888888933160826e-3, 1.9841269749120747e-4, 2.4801503480043056e-5, 2.7557375205844302e-6,
    2.7626687782367816e-7, 2.5065292642895046e-8};
inline constexpr Table exp_tail = {exp_tail_f32, exp_tail_f64};

/// 2^r = 1 + r P(r), |r| <= 1/2
inline constexpr double exp2_slope_f32[] = {  // 2^-26.25
    0.693147182, 0.240225941, 0.0555036627, 9.62543581e-3, 1.33879599e-3, 1.33388879e-4};
inline constexpr double exp2_slope_f64[] = {  // 2^-57.12
    0.69314718055994529,   0.24022650695910172,   0.055504108664824567,  9.618129107577136e-3,
    1.3333558145571991e-3, 1.5403530478682491e-4, 1.5252734729945227e-5, 1.3215424619042138e-6,
    1.0177661320621503e-7, 7.0755840614266082e-9, 4.5182016440079911e-10};
inline constexpr Table exp2_slope = {exp2_slope_f32, exp2_slope_f64};

/// 10^r = 1 + r P(r), |r| <= log10(2) / 2
inline constexpr double exp10_slope_f32[] = {  // 2^-27.51
    2.30258512, 2.65094686, 2.03466058, 1.17152536, 0.541618824, 0.199480161};
inline constexpr double exp10_slope_f64[] = {  // 2^-57.18
    2.3025850929940459,    2.6509490552392072,    2.0346785922932527,   1.1712551489073662,
    0.5393829292544754,    0.20699584965438628,   0.068089358956649595, 0.0195976126617089,
    5.0141994506572108e-3, 1.1576933153621205e-3, 2.3756976749616848e-4};
inline constexpr Table exp10_slope = {exp10_slope_f32, exp10_slope_f64};

/// log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2)
inline constexpr double log_tail_f32[] = {  // 2^-26.81
    0.333333313, -0.250008225, 0.20001258,  -0.16623351,
    0.142015234, -0.131614283, 0.127647653, -0.0763328671};
inline constexpr Table log_tail = {log_tail_f32, {}};

/// 2 atanh(s) = 2 s + s z P(z), z = s^2, |s| <= 3 - sqrt(8)
inline constexpr double log_atanh_f64[] = {  // 2^-59.49
    0.6666666666666734,  0.39999999999416519, 0.28571428742080607, 0.2222219859755889,
    0.18183563329793734, 0.15314070727719517, 0.14795790304876519};
inline constexpr Table log_atanh = {{}, log_atanh_f64};

/// atanh(s) = s + s z (1/3 + z P(z)), z = s^2, |s| <= 3 - sqrt(8)
inline constexpr double atanh_tail_f32[] = {  // 2^-36.77
    0.200000763, 0.142735437, 0.11709889};
inline constexpr double atanh_tail_f64[] = {  // 2^-66.28
    0.20000000000001128, 0.14285714285049778,  0.11111111259966805, 0.090908921828857639,
    0.07693378703171172, 0.066284078877446612, 0.065981743411738195};
inline constexpr Table atanh_tail = {atanh_tail_f32, atanh_tail_f64};

/// sin(r) = r + r u P(u), u = r^2, |r| <= pi/4
inline constexpr double sin_tail_f32[] = {  // 2^-27.91
    -0.166666552, 8.33218917e-3, -1.95182831e-4};
inline constexpr double sin_tail_f64[] = {  // 2^-57.88
    -0.1666666666666663,  8.3333333333218389e-3,  -1.9841269829357612e-4,
    2.755731353846976e-6, -2.5050734423288799e-8, 1.589543733653575e-10};
inline constexpr Table sin_tail = {sin_tail_f32, sin_tail_f64};

/// cos(r) = 1 - u/2 + u^2 P(u), u = r^2, |r| <= pi/4
inline constexpr double cos_tail_f32[] = {  // 2^-32.98
    0.0416666456, -1.38873095e-3, 2.4432331e-5};
inline constexpr double cos_tail_f64[] = {  // 2^-63.92
    0.041666666666666595,   -1.3888888888873338e-3, 2.4801587288997204e-5,
    -2.7557314215103348e-7, 2.0875705072139561e-9,  -1.1358729789365778e-11};
inline constexpr Table cos_tail = {cos_tail_f32, cos_tail_f64};

/// atan(t) = t + t u P(u), u = t^2, |t| <= 1
inline constexpr double atan_tail_f32[] = {  // 2^-25.82
    -0.333331525,  0.199937657,  -0.142109826,  0.106656767,
    -0.0755144358, 0.0432020426, -0.0163615029, 2.91900034e-3};
inline constexpr double atan_tail_f64[] = {  // 2^-55.86
    -0.33333333333333071,   0.19999999999951748,  -0.14285714282587883,   0.11111111007332307,
    -0.090909070075758644,  0.076922798858897579, -0.066664043963359704,  0.058805296391036925,
    -0.052535260097770563,  0.047223457240916311, -0.042192367005668516,  0.036643021859388711,
    -0.029905532686351381,  0.021986819557704144, -0.013902339001095538,  7.1977181158469732e-3,
    -2.8855238770294266e-3, 8.31529460208044e-4,  -1.5220464730962468e-4, 1.3229354162000005e-5};
inline constexpr Table atan_tail = {atan_tail_f32, atan_tail_f64};

/// asin(t) = t + t u P(u), u = t^2, |t| <= 1/2
inline constexpr double asin_tail_f32[] = {  // 2^-27.62
    0.166667521, 0.0749530867, 0.0454692729, 0.0241841245, 0.0421594344};
inline constexpr double asin_tail_f64[] = {  // 2^-55.90
    0.16666666666665411,   0.075000000003366388, 0.044642856828561464,  0.030381959129572526,
    0.022371758188154824,  0.017359703148014157, 0.013885247778679036,  0.012169150488002238,
    6.5281676842403775e-3, 0.01952790945650312,  -0.016223931054338534, 0.031912194423656386};
inline constexpr Table asin_tail = {asin_tail_f32, asin_tail_f64};

// Numbers in parts; the first parts are short enough that products with integers are exact.
inline constexpr SplitNumber ln2 = {{0x1.62e4p-1, 0x1.62e42fefa3p-1},
                                    {0x1.7f7d1cp-20, 0x1.3de6af278ece6p-42}};
inline constexpr SplitNumber log10_of_2 = {{0x1.344p-2, 0x1.34413509f7p-2},
                                           {0x1.3509f8p-18, 0x1.3fde623e2566bp-43}};
// The parts of these have the full precision of the format.
inline constexpr SplitNumber half_pi = {{0x1.921fb6p+0, 0x1.921fb54442d18p+0},
                                        {-0x1.777a5cp-25, 0x1.1a62633145c07p-54}};
inline constexpr SplitNumber two_over_ln2 = {{0x1.715476p+1, 0x1.71547652b82fep+1},
                                             {0x1.4ae0cp-25, 0x1.777d0ffda0d24p-55}};
inline constexpr SplitNumber third = {{0x1.555556p-2, 0x1.5555555555555p-2},
                                      {-0x1.555556p-27, 0x1.5555555555555p-56}};
inline constexpr double pi = 0x1.921fb54442d18p+1;
inline constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
inline constexpr double log2_of_e = 0x1.71547652b82fep+0;
inline constexpr double log2_of_10 = 0x1.a934f0979a371p+1;
inline constexpr double log10_of_e = 0x1.bcb7b1526e50ep-2;

/// pi/2 in parts with the full precision of the format, for fused products.
inline constexpr Number half_pi_fused[] = {{0x1.921fb6p+0, 0x1.921fb54442d18p+0},
                                           {-0x1.777a5cp-25, 0x1.1a62633145c07p-54},
                                           {-0x1.ee59dap-50, -0x1.f1976b7ed8fbcp-110}};
/// pi/2 in parts of half the format's precision, except the last.
inline constexpr Number half_pi_plain[] = {{0x1.92p+0, 0x1.921fb5p+0},
                                           {0x1.fb4p-12, 0x1.110b46p-26},
                                           {0x1.444p-24, 0x1.1a6263p-54},
                                           {0x1.68cp-39, 0x1.8a2e03p-81},
                                           {0x1.1a6264p-54, 0x1.c1cd129024e09p-107}};
/// The bits of 2/pi, preceded by 40 zeros.
inline constexpr int two_over_pi_zeros = 40;
inline constexpr std::uint32_t two_over_pi_words[] = {
    0x00000000, 0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd, 0xc0db6295, 0x993c4390, 0x41fe5163,
    0xabdebbc5, 0x61b7246e, 0x3a424dd2, 0xe006492e, 0xea09d192, 0x1cfe1deb, 0x1cb129a7, 0x3ee88235,
    0xf52ebb44, 0x84e99c70, 0x26b45f7e, 0x413991d6, 0x39835339, 0xf49c845f, 0x8bbdf928, 0x3b1ff897,
    0xffde0598, 0x0fef2f11, 0x8b5a0a6d, 0x1f6d367e, 0xcf27cb09, 0xb74f463f, 0x669e5fea, 0x2d7527ba,
    0xc7ebe5f1, 0x7b3d0739, 0xf78a5292, 0xea6bfb5f, 0xb11f8d5d, 0x08560330};

}  // namespace volley::passes::math
