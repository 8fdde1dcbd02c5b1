// A small JSON parser for the trace tests, which rejects invalid JSON and provides access to the values.
#pragma once

#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace volley::testing {

struct Json {
    enum class Kind { Null, Bool, Number, Text, List, Object };
    Kind kind = Kind::Null;
    double number = 0;  // for a bool: 0 or 1
    std::string text;
    std::vector<Json> list;
    std::map<std::string, Json> members;

    [[nodiscard]] bool has(const std::string& name) const { return members.count(name) != 0; }
    [[nodiscard]] const Json& operator[](const std::string& name) const { return members.at(name); }
};

/// Throws std::runtime_error with the position for text that RFC 8259 does not allow.
class JsonParser {
public:
    [[nodiscard]] static Json parse(std::string_view text) {
        JsonParser parser(text);
        Json value = parser.value();
        parser.skip();
        if (parser.at_ != text.size()) parser.fail("text after the end");
        return value;
    }

private:
    explicit JsonParser(std::string_view text) : text_(text) {}
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(what + " at byte " + std::to_string(at_));
    }
    void skip() {
        while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    [[nodiscard]] bool take(std::string_view wanted) {
        if (text_.substr(at_, wanted.size()) != wanted) return false;
        at_ += wanted.size();
        return true;
    }
    void need(std::string_view wanted) {
        if (!take(wanted)) fail("no '" + std::string(wanted) + "'");
    }
    Json value() {
        skip();
        if (at_ == text_.size()) fail("no value");
        Json result;
        if (text_[at_] == '{') return object();
        if (text_[at_] == '[') return list();
        if (text_[at_] == '"') {
            result.kind = Json::Kind::Text;
            result.text = string();
        } else if (take("true") || take("false")) {
            result.kind = Json::Kind::Bool;
            result.number = text_[at_ - 2] == 'u' ? 1 : 0;
        } else if (!take("null")) {
            result.kind = Json::Kind::Number;
            result.number = number();
        }
        return result;
    }
    double number() {
        const std::size_t begin = at_;
        const auto digits = [&] {
            const std::size_t first = at_;
            while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
            if (at_ == first) fail("no digit");
            return at_ - first;
        };
        static_cast<void>(take("-"));
        const bool zero = at_ < text_.size() && text_[at_] == '0';
        if (digits() > 1 && zero) fail("a number that begins with 0");
        if (take(".")) digits();
        if (take("e") || take("E")) {
            if (!take("+")) static_cast<void>(take("-"));
            digits();
        }
        double result = 0;
        std::from_chars(text_.data() + begin, text_.data() + at_, result);
        return result;
    }
    std::string string() {
        need("\"");
        std::string result;
        for (;;) {
            if (at_ == text_.size()) fail("a string without an end");
            const char c = text_[at_++];
            if (c == '"') return result;
            if (static_cast<unsigned char>(c) < 0x20) fail("a control character");
            if (c != '\\') {
                result += c;
                continue;
            }
            const char escaped = at_ < text_.size() ? text_[at_++] : '\0';
            if (escaped == 'u') {
                unsigned code = 0;
                const auto end = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16).ptr;
                if (end != text_.data() + at_ + 4) fail("no four digits");
                at_ += 4;
                result += static_cast<char>(code);
            } else if (std::string_view("\"\\/bfnrt").find(escaped) != std::string_view::npos) {
                result += escaped;
            } else {
                fail("an unknown escape");
            }
        }
    }
    Json list() {
        Json result;
        result.kind = Json::Kind::List;
        need("[");
        skip();
        if (take("]")) return result;
        do {
            result.list.push_back(value());
            skip();
        } while (take(","));
        need("]");
        return result;
    }
    Json object() {
        Json result;
        result.kind = Json::Kind::Object;
        need("{");
        skip();
        if (take("}")) return result;
        do {
            skip();
            std::string name = string();
            skip();
            need(":");
            if (!result.members.emplace(std::move(name), value()).second) fail("a name twice");
            skip();
        } while (take(","));
        need("}");
        return result;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace volley::testing
