#!/bin/sh
# Stands in for `codex cloud`: prints what the real program was recorded to print, with its exit codes.
#
# `tasks/ID` is a task that the service accepted, with its `title`, the `args` of the call and the `starting_diff`. `state` is
# the state of all of them, `diff` what they changed, `refuses-VERB` what the program says when it fails, and `breaks-exec`
# what it says when it fails although the service accepted the task. The script says where it is by making `at-STAGE`, and stays there
# as long as `holds-STAGE` exists.

side=${0%/bin/codex}/side
cloud=$side/cloud
echo "$2" >> "$cloud/calls"
# The real one does this too, wherever it is started.
echo "account" >> error.log
for last; do :; done

meet() {
    touch "$cloud/at-$1"
    while [ -e "$cloud/holds-$1" ]; do sleep 0.01; done
}

if [ -e "$cloud/refuses-$2" ]; then
    cat "$cloud/refuses-$2" >&2
    exit 1
fi
case $2 in
exec)
    read -r title
    cat > /dev/null
    meet exec
    number=1
    until mkdir "$cloud/tasks/task_e_$number" 2> /dev/null; do number=$((number + 1)); done
    echo "$title" > "$cloud/tasks/task_e_$number/title"
    echo "$*" > "$cloud/tasks/task_e_$number/args"
    [ -z "$CODEX_STARTING_DIFF" ] || echo "$CODEX_STARTING_DIFF" > "$cloud/tasks/task_e_$number/starting_diff"
    echo "$$" >> "$side/${DELEGATOR_RUNS##*:}.starts"
    meet accepted
    if [ -e "$cloud/breaks-exec" ]; then
        cat "$cloud/breaks-exec" >&2
        exit 1
    fi
    echo "https://chatgpt.com/codex/tasks/task_e_$number"
    ;;
list)
    meet list
    # A page holds three tasks, the newest first. The cursor is how many came before.
    from=0
    case "$*" in *--cursor*) from=$last ;; esac
    printf '{"tasks":['
    comma=
    number=0
    cursor=null
    for title in $(ls -t "$cloud"/tasks/*/title 2> /dev/null); do
        number=$((number + 1))
        [ "$number" -gt "$from" ] || continue
        if [ "$number" -gt $((from + 3)) ]; then
            cursor=\"$((from + 3))\"
            break
        fi
        id=$(basename "${title%/title}")
        printf '%s{"id":"%s","url":"https://chatgpt.com/codex/tasks/%s","title":"%s","status":"pending",' \
            "$comma" "$id" "$id" "$(cat "$title")"
        printf '"updated_at":"2026-11-18T10:00:00Z","environment_id":null,"environment_label":"e",'
        printf '"summary":{"files_changed":0,"lines_added":0,"lines_removed":0},"is_review":false,"attempt_total":1}'
        comma=,
    done
    printf '],"cursor":%s}\n' "$cursor"
    ;;
status)
    meet status
    state=$(cat "$cloud/state")
    printf '[%s] %s\ne  •  4s ago\n' "$state" "$(cat "$cloud/tasks/$last/title")"
    if [ "$state" != READY ]; then
        echo "no diff"
        exit 1
    fi
    echo "+1/-0 • 1 file"
    ;;
diff)
    meet diff
    if [ ! -e "$cloud/diff" ]; then
        echo "Error: No diff available for task $last; it may still be running." >&2
        exit 1
    fi
    cat "$cloud/diff"
    ;;
esac
