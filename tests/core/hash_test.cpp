// The hash never changes, because files on disk are named by it. Also tests the concatenation of text.
#include "core/hash.hpp"
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <set>

namespace volley {
namespace {

Hash128 of_bytes(std::string_view text) {
    return Hasher().bytes(std::as_bytes(std::span(text.data(), text.size()))).digest();
}

TEST(Hash, AgreesWithThePublishedAlgorithm) {
    EXPECT_EQ(of_bytes("").to_string(), "00000000000000000000000000000000");
    EXPECT_EQ(of_bytes("hello").to_string(), "cbd8a7b341bd9b025b1e906a48ae1d19");
    EXPECT_EQ(of_bytes("The quick brown fox jumps over the lazy dog").to_string(),
              "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST(Hash, WordsEqualTheirLittleEndianBytes) {
    for (const std::string_view prefix : {"", "abc", "12345678", "123456789"}) {
        Hasher words;
        Hasher bytes;
        words.bytes(std::as_bytes(std::span(prefix.data(), prefix.size()))).add(0x0807060504030201u);
        bytes.bytes(std::as_bytes(std::span(prefix.data(), prefix.size())));
        const char text[] = {1, 2, 3, 4, 5, 6, 7, 8};
        bytes.bytes(std::as_bytes(std::span(text)));
        EXPECT_EQ(words.digest(), bytes.digest()) << prefix;
    }
}

TEST(Hash, DistinguishesStringsThatConcatenateEqually) {
    EXPECT_NE(Hasher().add("ab", "c").digest(), Hasher().add("a", "bc").digest());
    EXPECT_NE(Hasher().add(0.0).digest(), Hasher().add(-0.0).digest());
    EXPECT_NE(Hasher().add(1).digest(), Hasher().add(1.0).digest());
    EXPECT_NE(Hasher(1).add(1).digest(), Hasher(2).add(1).digest());
    EXPECT_EQ(Hasher().add(1, true, 'x').digest(), Hasher().add(1).add(true).add('x').digest());
}

TEST(Hash, AcceptsMoreValuesAfterADigest) {
    Hasher hasher;
    hasher.add("a");
    const Hash128 first = hasher.digest();
    EXPECT_EQ(hasher.digest(), first);
    EXPECT_NE(hasher.add("b").digest(), first);
}

TEST(Hash, SmallNumbersDoNotCollide) {
    std::set<std::uint64_t> digests;
    for (int i = 0; i < 10000; ++i) digests.insert(Hasher().add(i).digest().low);
    EXPECT_EQ(digests.size(), 10000u);
}

TEST(Text, JoinsPiecesOfAllKinds) {
    EXPECT_EQ(cat("a", std::string("b"), std::string_view("c"), 'd', 1, -2L, 3u, true, 1.5, 0.1f),
              "abcd1-23true1.50.1");
    EXPECT_EQ(cat(), "");
    EXPECT_EQ(join(std::vector{1, 2, 3}, ", "), "1, 2, 3");
    EXPECT_EQ(hex(255, 4), "00ff");
    EXPECT_EQ(trimmed("  a b\t"), "a b");
    EXPECT_EQ(trimmed(" "), "");
}

}  // namespace
}  // namespace volley
