#!/usr/bin/env bash
# Walks, with a stopwatch, the paths on which three people meet Lyceum.
#
#   packaging/first-steps.sh clone       someone clones the repository and starts the demo, twice
#   packaging/first-steps.sh app         an app developer goes from an empty folder to an activity
#   packaging/first-steps.sh operator    someone installs the Debian package and gets the first answer
#
# `app` and `operator` start from the packages that `cargo xtask pack` has made in target/packages. `operator` needs
# root and debootstrap. Nothing but package registries is reached.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
packages=${PACKAGES:-$root/target/packages}
work=$(mktemp -d)
started=()
trap 'for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done; wait; rm -rf "$work"' EXIT

# Prints the time since the stopwatch was started.
lap() { echo "$1: $((SECONDS - since)) s"; }

# Waits until an address answers.
answers() { until curl --silent --fail --output /dev/null "$1"; do sleep 0.2; done; }

clone() {
    since=$SECONDS
    git clone --quiet "$root" "$work/clone"
    cd "$work/clone"
    for call in first second; do
        CARGO_TARGET_DIR=$work/clone/target cargo xtask demo --listen 127.0.0.1:4399 >"$work/demo-$call.log" &
        demo=$!
        started+=("$demo")
        answers http://127.0.0.1:4399/openapi.json
        lap "clone: $call call of the demo answers after"
        kill "$demo"
        wait "$demo" || true
        since=$SECONDS
    done
}

app() {
    since=$SECONDS
    mkdir "$work/app"
    cd "$work/app"
    # `npm create lyceum rivers -- --template vanilla`, with packages that no registry has.
    npm install --silent --no-audit --no-fund "$packages"/npm/create-lyceum-*.tgz "$packages"/npm/lyceum-cli-*.tgz
    node_modules/.bin/create-lyceum rivers --template vanilla --name Rivers --no-install
    cd rivers
    npm install --silent --no-audit --no-fund "$packages"/npm/lyceum-{cli,sdk,vite}-*.tgz
    lap "app: created and installed after"
    NO_COLOR=1 npm run dev >"$work/app.log" 2>&1 &
    started+=($!)
    until sandbox=$(grep --only-matching --max-count 1 'http://localhost:[0-9]*/api' "$work/app.log"); do sleep 0.2; done
    answers "${sandbox%/api}/openapi.json"
    curl --silent --fail --output /dev/null --oauth2-bearer mock --header 'Idempotency-Key: one' --json '{
        "activityData": {"activityId": "fractions-1", "subject": "Math", "grade": 3},
        "scoreData": {"correctQuestions": 10, "totalQuestions": 10}, "timingData": {"durationSeconds": 600}
    }' "$sandbox/lms/end-activity"
    curl --silent --oauth2-bearer mock "$sandbox/lms/xp/total"
    echo
    lap "app: the activity counts after"
}

operator() {
    debootstrap --variant=minbase --include=ca-certificates bookworm "$work/debian" >"$work/debian.log"
    cp "$packages"/lyceum_*.deb "$work/debian/"
    since=$SECONDS
    chroot "$work/debian" sh -c 'apt-get install --yes /lyceum_*.deb' >"$work/debian.log" 2>&1
    lap "operator: installed after"
    chroot --userspec=lyceum:lyceum "$work/debian" /usr/bin/lyceum serve --data /var/lib/lyceum --listen 127.0.0.1:4399 \
        >"$work/serve.log" 2>&1 &
    started+=($!)
    answers http://127.0.0.1:4399/ready
    lap "operator: the server answers after"
}

[[ $# -gt 0 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
for path in "$@"; do
    case $path in
        clone | app | operator) "$path" ;;
        *) echo "error: '$path' is not a path; choose among clone, app and operator" >&2; exit 2 ;;
    esac
done
