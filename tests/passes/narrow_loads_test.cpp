// Composites of which only parts are used are loaded in parts.
#include "passes/narrow_loads.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

constexpr std::string_view particle = R"(struct Particle size 32 align 4 {
  position : vec3<f32> @ 0
  velocity : vec3<f32> @ 12
  mass : f32 @ 24
  charge : f32 @ 28
}
kernel "k")";

std::string narrowed(std::string_view element, std::string_view body) {
    const std::string start =
        "%p = buffer " + std::string(element) + " \"p\"\n%o = buffer f32 \"o\"\n%i = param u32 \"i\"\n";
    const std::string text = after(narrow_loads, start + std::string(body), particle);
    return text.substr(text.find("u32 \"i\"\n") + 8);
}

TEST(NarrowLoads, OneFieldIsLoadedAlone) {
    EXPECT_EQ(narrowed("Particle", "%x = load %p[%i] : Particle\n%m = extract %x[2] : f32\nstore %o[%i], %m"),
              "%3 = load %0[%2, 2] : f32\nstore %1[%2], %3\n");
}

TEST(NarrowLoads, AVectorIsLoadedWholeIfMoreThanOneComponentIsUsed) {
    EXPECT_EQ(
        narrowed("Particle",
                 "%x = load %p[%i] : Particle\n%a = extract %x[0, 0] : f32\n%b = extract %x[0, 2] : f32\n"
                 "%s = add %a, %b : f32\nstore %o[%i], %s"),
        "%3 = load %0[%2, 0] : vec3<f32>\n%4 = extract %3[0] : f32\n%5 = extract %3[2] : f32\n"
        "%6 = add %4, %5 : f32\nstore %1[%2], %6\n");
    const std::string_view two =
        "%x = load %p[%i] : vec4<f32>\n%a = extract %x[0] : f32\n%b = extract %x[1] : f32\n"
        "%s = add %a, %b : f32\nstore %o[%i], %s";
    EXPECT_NE(narrowed("vec4<f32>", two).find("load %0[%2] : vec4<f32>"), std::string::npos);
}

TEST(NarrowLoads, OneComponentOfAVectorIsLoadedAlone) {
    EXPECT_EQ(
        narrowed("vec4<f32>", "%x = load %p[%i] : vec4<f32>\n%a = extract %x[3] : f32\nstore %o[%i], %a"),
        "%3 = load %0[%2, 3] : f32\nstore %1[%2], %3\n");
    EXPECT_EQ(narrowed("complex<f32>",
                       "%x = load %p[%i] : complex<f32>\n%a = extract %x[1] : f32\nstore %o[%i], %a"),
              "%3 = load %0[%2, 1] : f32\nstore %1[%2], %3\n");
}

TEST(NarrowLoads, UsingAllPartsLoadsTheWhole) {
    const std::string text = narrowed("complex<f32>",
                                      "%x = load %p[%i] : complex<f32>\n%a = extract %x[0] : f32\n"
                                      "%b = extract %x[1] : f32\n%s = add %a, %b : f32\nstore %o[%i], %s");
    EXPECT_NE(text.find("load %0[%2] : complex<f32>"), std::string::npos);
}

TEST(NarrowLoads, AUseOfTheWholeKeepsItsLoad) {
    const std::string text =
        narrowed("Particle",
                 "%x = load %p[%i] : Particle\n%a = extract %x[2] : f32\nstore %o[%i], %a\n"
                 "store %p[0], %x");
    EXPECT_NE(text.find("load %0[%2] : Particle"), std::string::npos);
}

TEST(NarrowLoads, PartsAreLoadedInPlaceOfTheWhole) {
    EXPECT_EQ(narrowed("Particle",
                       "%x = load %p[%i] : Particle\n%n = const 0.0 : f32\nstore %p[%i, 2], %n\n"
                       "%m = extract %x[2] : f32\nstore %o[%i], %m"),
              "%3 = load %0[%2, 2] : f32\n%4 = const 0.0 : f32\nstore %0[%2, 2], %4\nstore %1[%2], %3\n");
}

TEST(NarrowLoads, AComputedComponentNeedsItsVector) {
    EXPECT_EQ(
        narrowed("Particle", "%x = load %p[%i] : Particle\n%m = extract %x[0, %i] : f32\nstore %o[%i], %m"),
        "%3 = load %0[%2, 0] : vec3<f32>\n%4 = extract %3[%2] : f32\nstore %1[%2], %4\n");
}

}  // namespace
}  // namespace volley::passes
