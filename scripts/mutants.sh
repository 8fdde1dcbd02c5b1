#!/usr/bin/env bash
# Applies mutants, which are single-line faults, one after the other to a scratch copy of the repository, and runs the
# tests that should notice them. A mutant that no test notices shows a test that is missing.
#   scripts/mutants.sh [--list] [--check] [--again] [FILTER]
#     --list    print the mutants and their last results
#     --check   only check that each mutant's text occurs exactly once in its file
#     --again   also run mutants whose result is known for the current text of their file and tests
#     FILTER    only mutants whose name, file or tests contain it
# The list is tests/mutants/mutants.txt, and describes its own format. Results are kept in build/mutants/results.txt, so
# that an interrupted run continues. VOLLEY_MUTANTS_TREE names another folder for the scratch copy, for example one that
# is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
list=$root/tests/mutants/mutants.txt
state=$root/build/mutants
tree=${VOLLEY_MUTANTS_TREE:-$state/tree}
results=$state/results.txt
limit=${VOLLEY_MUTANTS_TIMEOUT:-300} # seconds for a test program

mode=run again="" filter=""
for argument in "$@"; do
    case $argument in
        --list) mode=list ;;
        --check) mode=check ;;
        --again) again=yes ;;
        -*)
            printf 'mutants: unknown option %s\n' "$argument" >&2
            exit 2
            ;;
        *) filter=$argument ;;
    esac
done

errors=0
complain() {
    printf 'mutants: %s\n' "$*" >&2
    errors=$((errors + 1))
}

# ---------------------------------------------------------------------------------------------- the list

names=()
declare -A file after from to tests preset equivalent

# Reads the list. `tests` has one "program filter" per line.
read_list() {
    local line key value name="" number=0
    while IFS= read -r line || [[ -n $line ]]; do
        number=$((number + 1))
        [[ -n $line && $line != '#'* ]] || continue
        key=${line%%:*}
        value=${line#*:}
        value=${value# }
        case $key in
            mutant)
                name=$value
                [[ -z ${file[$name]+set} ]] || complain "line $number: there are two mutants '$name'"
                names+=("$name")
                file[$name]="" after[$name]="" from[$name]="" to[$name]="" tests[$name]="" preset[$name]=release equivalent[$name]=""
                ;;
            file) file[$name]=$value ;;
            after) after[$name]=$value ;;
            from) from[$name]=$value ;;
            to) to[$name]=$value ;;
            test) tests[$name]+=$value$'\n' ;;
            preset) preset[$name]=$value ;;
            equivalent) equivalent[$name]=$value ;;
            *) complain "line $number of the list is not understood: $line" ;;
        esac
    done <"$list"
}

count_in() { # text part
    local without=${1//"$2"/}
    printf '%d' $(((${#1} - ${#without}) / ${#2}))
}

# Prints how often the mutant's text occurs in its file, or 1 for the first one after its `after`.
occurrences() {
    local text
    [[ -f $root/${file[$1]} && -n ${from[$1]} ]] || { printf 0 && return; }
    text=$(<"$root/${file[$1]}")
    [[ -n ${after[$1]} ]] || { count_in "$text" "${from[$1]}" && return; }
    [[ $(count_in "$text" "${after[$1]}") -eq 1 && ${text#*"${after[$1]}"} == *"${from[$1]}"* ]] || { printf 0 && return; }
    printf 1
}

# Prints the mutant's file with the mutant.
mutated() {
    local text head=""
    text=$(<"$root/${file[$1]}")
    if [[ -n ${after[$1]} ]]; then
        head=${text%%"${after[$1]}"*}${after[$1]}
        text=${text#*"${after[$1]}"}
    fi
    printf '%s%s\n' "$head" "${text/"${from[$1]}"/"${to[$1]}"}"
}

check_list() {
    local name count
    for name in "${names[@]}"; do
        count=$(occurrences "$name")
        [[ $count -eq 1 ]] || complain "$name: its text occurs $count times in ${file[$name]}: ${from[$name]}"
        [[ ${from[$name]} != "${to[$name]}" ]] || complain "$name: it changes nothing"
        [[ -n ${tests[$name]} || -n ${equivalent[$name]} ]] || complain "$name: it has neither tests nor a reason"
    done
}

selected() {
    [[ -z $filter || $1 == *"$filter"* || ${file[$1]} == *"$filter"* || ${tests[$1]} == *"$filter"* ]]
}

# ---------------------------------------------------------------------------------------------- results

# A result holds for the text of the mutant and of its file.
key_of() {
    {
        printf '%s\n' "$1" "${after[$1]}" "${from[$1]}" "${to[$1]}" "${tests[$1]}" "${preset[$1]}"
        cat "$root/${file[$1]}"
    } | sha256sum | cut -c 1-16
}

result_of() { # name -> killed, survived, or nothing
    [[ -z ${equivalent[$1]} ]] || { printf 'equivalent' && return; }
    [[ -f $results ]] || return 0
    awk -v key="$(key_of "$1")" '$1 == key { found = $2 } END { printf "%s", found }' "$results"
}

# ---------------------------------------------------------------------------------------------- running

# Copies the repository's files, keeping the times of those that did not change.
copy_tree() {
    local path
    mkdir -p "$tree"
    git -C "$root" ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' path; do
        [[ -f $root/$path ]] || continue
        cmp -s "$root/$path" "$tree/$path" && continue
        mkdir -p "$tree/$(dirname "$path")"
        cp "$root/$path" "$tree/$path"
    done
    mkdir -p "$tree/build"
    if [[ -d $root/build/swiftshader && ! -e $tree/build/swiftshader ]]; then
        ln -s "$root/build/swiftshader" "$tree/build/swiftshader"
    fi
}

build() { # preset programs...
    (cd "$tree" && VOLLEY_WERROR=OFF ./dev build "$@") >"$state/build.log" 2>&1
}

# Runs the tests, one "program filter" per line; fails if one fails, crashes or takes too long.
run_tests() { # preset tests
    local program names_of_tests
    local -a runner=()
    if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then runner=(setarch -R); fi
    while read -r program names_of_tests; do
        [[ -n $program ]] || continue
        (cd "$tree" && timeout "$limit" "${runner[@]}" "build/$1/tests/$program" --gtest_brief=1 \
            --gtest_filter="${names_of_tests:-*}") >"$state/test.log" 2>&1 || return 1
        # A filter that selects nothing kills nothing.
        ! grep -q '^\[==========\] 0 tests' "$state/test.log" || {
            complain "no test of $program is named $names_of_tests"
            return 0
        }
    done <<<"$2"
}

programs_of() { printf '%s' "$1" | awk 'NF { print $1 }' | sort -u; }

declare -A sound # tests that pass without a mutant

# Checks that the tests pass without the mutant, once for each set of tests.
check_tests() {
    local name=$1 programs
    local id="${preset[$name]} ${tests[$name]}"
    [[ -z ${sound[$id]:-} ]] || return 0
    mapfile -t programs < <(programs_of "${tests[$name]}")
    build "${preset[$name]}" "${programs[@]}" || {
        complain "the repository does not build: $state/build.log"
        return 1
    }
    run_tests "${preset[$name]}" "${tests[$name]}" || {
        complain "$name: its tests fail without it: $state/test.log"
        return 1
    }
    sound[$id]=yes
}

applied="" # the file that has a mutant
revert() {
    [[ -z $applied ]] || cp "$root/$applied" "$tree/$applied"
    applied=""
}
trap revert EXIT

run_mutant() {
    local name=$1 programs result=survived
    check_tests "$name" || return 0
    applied=${file[$name]}
    mutated "$name" >"$tree/$applied"
    mapfile -t programs < <(programs_of "${tests[$name]}")
    if ! build "${preset[$name]}" "${programs[@]}"; then
        complain "$name does not compile: $state/build.log"
        revert
        return 0
    fi
    run_tests "${preset[$name]}" "${tests[$name]}" || result=killed
    revert
    printf '%s %s %s\n' "$(key_of "$name")" "$result" "$name" >>"$results"
    printf '%-10s %s\n' "$result" "$name"
}

read_list
check_list
case $mode in
    check) ;;
    list)
        for name in "${names[@]}"; do
            ! selected "$name" || printf '%-10s %-55s %s\n' "$(result_of "$name")" "$name" "${file[$name]}"
        done
        ;;
    run)
        [[ $errors -eq 0 ]] || exit 1
        mkdir -p "$state"
        copy_tree
        for name in "${names[@]}"; do
            if ! selected "$name" || [[ -n ${equivalent[$name]} ]]; then continue; fi
            if [[ -z $again ]] && [[ -n $(result_of "$name") ]]; then continue; fi
            run_mutant "$name"
        done
        ;;
esac

declare -A count=([killed]=0 [survived]=0 [equivalent]=0 [unknown]=0)
survivors=()
for name in "${names[@]}"; do
    selected "$name" || continue
    result=$(result_of "$name")
    result=${result:-unknown}
    count[$result]=$((count[$result] + 1))
    [[ $result != survived ]] || survivors+=("$name")
done
for name in "${survivors[@]}"; do printf 'survived: %s\n' "$name"; done
printf '%d killed, %d survived, %d equivalent, %d not run\n' "${count[killed]}" "${count[survived]}" \
    "${count[equivalent]}" "${count[unknown]}"
[[ $errors -eq 0 && ${#survivors[@]} -eq 0 ]]
