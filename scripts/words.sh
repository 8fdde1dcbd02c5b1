#!/usr/bin/env bash
# Reports words and phrases that plain technical English avoids (CONTRIBUTING.md, "Prose"): how often each occurs in
# comments, string literals and Markdown, per file and in total. Only a report: it always succeeds. A hit may be a
# correct use, such as `behind` in `behind a proxy`.
#   scripts/words.sh [FILE...]      all files of the repository by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One extended regular expression per line. The text is lower case, and words are separated by single spaces.
words=$(
    cat <<'END'
behind
tells?
told
inside of
outside of
nobody
somebody
anybody
whoever
who (waits|asks|looks|wants|gives|reads)
stands?
and kin
lies?
side by side
anew
but for
that is
wanted
said
ha(s|ve) no say
as it (came|comes|was)
of (its|their) own
of the [a-z]+'s
[a-z]+'s own
gives?
(is|are|was|were) given
END
)

list_files() {
    git ls-files -- '*.md' '*.cpp' '*.hpp' '*.cmake' '*CMakeLists.txt' '*.sh' dev .ci/run Doxyfile .clang-tidy |
        grep -vxF scripts/words.sh
}

if [[ $# -gt 0 ]]; then printf '%s\n' "$@"; else list_files; fi | words=$words awk '
    # Returns the prose of a line: all of Markdown except code, string literals and comments of C++, comments of others.
    function prose(line, kind, text) {
        if (kind == "markdown") {
            if (line ~ /^ *```/) fenced = !fenced
            if (fenced) return ""
            gsub(/`[^`]*`/, " ", line)
            return line
        }
        if (kind == "script") return match(line, /(^|[ \t])#/) ? substr(line, RSTART + RLENGTH) : ""
        if (line ~ /^[ \t]*#[ \t]*include/) return ""
        while (match(line, /"([^"\\]|\\.)*"|\/\/.*/)) {
            text = text " " substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
        }
        return text
    }
    BEGIN {
        lines = split(ENVIRON["words"], words, "\n")
        while ((getline file) > 0) {
            kind = file ~ /\.md$/ ? "markdown" : file ~ /\.[ch]pp$/ ? "c++" : "script"
            fenced = 0
            text = ""
            while ((getline line < file) > 0) text = text " " prose(line, kind)
            close(file)
            text = tolower(text)
            gsub(/[^a-z\047]+/, " ", text)
            text = text " "
            count = 0
            found = ""
            for (i = 1; i <= lines; ++i) {
                if (words[i] == "") continue
                hits = gsub(" (" words[i] ") ", "& ", text)
                gsub(/  /, " ", text)
                if (hits == 0) continue
                count += hits
                totals[words[i]] += hits
                found = found (found == "" ? "" : ", ") words[i] " " hits
            }
            if (count == 0) continue
            printf "%6d  %s: %s\n", count, file, found | "sort -k1,1nr -k2"
            all += count
            ++files
        }
        close("sort -k1,1nr -k2")
        printf "\n"
        for (word in totals) printf "%6d  %s\n", totals[word], word | "sort -k1,1nr -k2"
        close("sort -k1,1nr -k2")
        printf "\n%6d  in %d files\n", all, files
    }'
