#!/usr/bin/env bash
# Walks, with a stopwatch, the paths on which people meet Lyceum.
#
#   packaging/first-steps.sh clone       someone clones the repository and starts the demo, twice
#   packaging/first-steps.sh app         an app developer goes from an empty folder to an activity
#   packaging/first-steps.sh production  an app with a backend goes from an empty folder to production, where a student plays it
#   packaging/first-steps.sh operator    someone installs the Debian package and gets the first answer
#
# All but `clone` start from the packages that `cargo xtask pack` has made in target/packages. `production` needs Chromium
# and `npm ci` in web. `operator` needs root and debootstrap. Nothing but package registries is reached.
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

# Creates a project from a template, as `npm create lyceum rivers -- --template $1`, with packages that no registry has.
create_project() {
    mkdir "$work/$1"
    cd "$work/$1"
    npm install --silent --no-audit --no-fund "$packages"/npm/create-lyceum-*.tgz "$packages"/npm/lyceum-cli-*.tgz
    node_modules/.bin/create-lyceum rivers --template "$1" --name Rivers --no-install
    cd rivers
    npm install --silent --no-audit --no-fund "$packages"/npm/lyceum-{cli,sdk,vite}-*.tgz
}

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
    create_project vanilla
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

# Starts the server of an environment at its port, and waits until it answers.
serve() {
    local address=127.0.0.1:${ports[$1]}
    lyceum serve --env "$1" --data "$work/$1" --listen "$address" --public-url "http://$address" >>"$work/$1.log" 2>&1 &
    servers[$1]=$!
    started+=($!)
    answers "http://$address/ready"
}

# Asks the production server as its administrator.
ask() { curl --silent --show-error --fail-with-body --oauth2-bearer "$LYCEUM_PRODUCTION_API_KEY" "$@"; }

# Prints what the student left on the production server: each part is read by another way than the app wrote it.
effects() {
    local there="--remote --env production" today
    today=$(date --utc +%F)
    echo "visits: $(lyceum kv get visits $there)"
    echo "book: $(lyceum bucket get files/book.txt --raw $there)"
    echo "map: $(curl --silent --show-error --fail --dump-header - "$LYCEUM_PRODUCTION_URL/_projects/rivers/api/files/map.txt" |
        tr --delete '\r' | grep --extended-regexp '^(cache-control|Nile)')"
    echo "map's author: $(lyceum bucket get files/map.txt --json $there | node -p "$json.customMetadata.author")"
    rm --force notes.db
    lyceum db backup notes.db --quiet $there
    echo "notes: $(python3 -c 'import sqlite3; print(*sqlite3.connect("notes.db").execute("SELECT author, body FROM notes"))')"
    echo "XP: $(ask "$LYCEUM_PRODUCTION_URL/bridge/analytics/activity?studentId=ann&startDate=$today&endDate=$today&timezone=UTC" |
        node -p "$json.facts['$today'].Language.activityMetrics.xpEarned")"
}

production() {
    local env key course roster password=not-a-real-one json='JSON.parse(require("fs").readFileSync(0, "utf8"))'
    local free='const server = net.createServer().listen(0, "127.0.0.1", () => server.close(console.log(server.address().port)))'
    declare -A ports servers
    since=$SECONDS
    create_project backend
    lap "production: created and installed after"

    PATH=$PWD/node_modules/.bin:$PATH
    for env in staging production; do
        ports[$env]=$(node -e "$free")
        serve "$env"
        key=$(lyceum admin key create deploys --role administrator --env "$env" --data "$work/$env" --quiet)
        export "LYCEUM_${env^^}_URL=http://127.0.0.1:${ports[$env]}" "LYCEUM_${env^^}_API_KEY=$key"
    done
    echo "CODE_KEY=$password" >.env
    lyceum db push
    npm run --silent build
    lyceum deploy --env staging --yes
    lyceum deployments promote --yes
    lyceum secrets push --env production --yes
    lyceum lms verify --env production
    lyceum kv set visits 41 --remote --env production
    echo Nile >map.txt
    lyceum bucket put files/map.txt map.txt --cache-control max-age=3600 --metadata author=ada --remote --env production
    lap "production: deployed after"

    roster=$LYCEUM_PRODUCTION_URL/ims/oneroster/rostering/v1p2
    ask --output /dev/null "$roster/orgs" --json '{"org": {"sourcedId": "school", "name": "School", "type": "school"}}'
    ask --output /dev/null "$roster/users" --json '{"user": {
        "sourcedId": "ann", "username": "ann", "givenName": "Ann", "familyName": "Ames", "email": "ann@example.org",
        "enabledUser": true, "grades": ["04"],
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}}]
    }}'
    course=$(lyceum lms setup --env production --json | node -p "$json.courses[0].courseId")
    ask --output /dev/null "$LYCEUM_PRODUCTION_URL/bridge/enrollments/enroll/ann/$course" --json '{}'
    # The account and the student have the same e-mail address.
    echo "$password" | lyceum admin user create ann@example.org --name Ann --role developer --password-stdin --data "$work/production"
    node "$root/web/tests/play-as-student.js" "$LYCEUM_PRODUCTION_URL/play/rivers" ann@example.org "$password"
    lap "production: a student has played after"

    effects | tee "$work/before"
    kill "${servers[production]}"
    wait "${servers[production]}" || true
    serve production
    effects >"$work/after"
    diff "$work/before" "$work/after"
    lap "production: restarted with the same data after"
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

[[ $# -gt 0 ]] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
for path in "$@"; do
    case $path in
        clone | app | production | operator) "$path" ;;
        *) echo "error: '$path' is not a path; choose among clone, app, production and operator" >&2; exit 2 ;;
    esac
done
