#!/bin/bash
# The same content, exactly once, at every number of ranks.
. "$(dirname "$0")/support.sh"
for i in $(seq 12); do
    echo "$((i % 4 + 1)) ok 0 $((i % 3)) $((i % 5)) $((i * i * 700 + 1)) -"
done >jobs
for count in 1 2 3 5; do
    rm -f sink
    start $count jobs
    finish
    expect_rc 0 "$count ranks"
    [ "$(ends sink | wc -l)" = 30 ] || fail "$(ends sink | wc -l) units ended, expected 30"
    expect_unique_ends
    content sink >content.$count
    [ "$(uniq <content.$count | wc -l)" = "$(wc -l <content.$count)" ] || fail "a record came twice"
    cmp content.1 content.$count || fail "$count ranks gave another content than one"
done
echo '1 ok 0 0 0 1 -' >one
for count in 1 2; do
    rm -f sink
    start $count one
    finish
    expect_rc 0 "a single unit at $count ranks"
    [ "$(ends sink)" = 0 ] || fail "the single unit did not end"
done
