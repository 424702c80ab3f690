//! A server of several is lost, and another machine takes its place.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;

use super::authority::{Authority, sign_in};
use super::deb::Deb;
use super::guide::Guide;
use super::writer::{Stop, Writer};
use super::{LIVE, ORGS, PATIENCE, PROGRAMS, wait_until};
use crate::deploy;
use crate::hosted::Moto;
use crate::machines::{Network, TestMachine};
use crate::packages::without_root;
use crate::served::binary;
use crate::transcript::Place;
use crate::whole_project;

/// The time until another server answers for one that is lost: the guide promises 15 s, after which the load balancer has to
/// notice it, too.
const TAKEN_MAX: Duration = Duration::from_secs(20);
/// Writes to a project that were acknowledged within this time before its server was lost may be missing.
const REPLICATED_WITHIN: Duration = Duration::from_secs(2);
const SCORES: &str = "/_projects/word-rivers/api/scores";

/// Two servers, a load balancer, PostgreSQL and an S3 service. One server is lost while clients write, and a new one takes its
/// place.
#[test]
#[ignore = "rest"]
fn an_operator_replaces_a_lost_server() {
    if without_root() {
        return;
    }
    if !full_size() {
        println!("left out: it takes minutes, so only the soak runs it");
        return;
    }
    let network = Network::new(&PROGRAMS);
    network.enter(|| a_lost_server(&network));
}

fn a_lost_server(network: &Network) {
    let (guide, authority, deb) = (Guide::read(), Authority::new(), Deb::of_this_release());
    let s3 = Moto::start_at("10.0.0.9", "9000");
    s3.create_bucket("lyceum");
    let [data, mut oak, elm] = [("data", "10.0.0.4"), ("oak", "10.0.0.5"), ("elm", "10.0.0.6")]
        .map(|(name, address)| TestMachine::start(network, name, address));
    for server in [&oak, &elm] {
        server.receive(&deb.file);
    }
    guide.take(&data, "postgresql");
    authority.certify(&data, 2100);
    data.run(&format!("cat {LIVE}/fullchain.pem {LIVE}/privkey.pem > /etc/haproxy/lyceum.pem"));
    guide.take(&data, "haproxy");
    guide.take(&oak, "first-server");
    wait_until("the master key", || oak.path("/var/lib/lyceum/master.key").exists());
    guide.take(&oak, "settings");
    let settings = oak.path("/root/lyceum-settings.tar.gz");
    elm.receive(&settings);
    guide.take(&elm, "next-server");

    let client = authority.client(&data);
    wait_until("an answer of both servers", || servers_in_use(&data) == ["elm", "oak"]);
    let client = sign_in(&elm, &client);
    deploy_through(&oak);
    let writers = [Writer::new(ORGS, client.clone()), Writer::new(SCORES, client.clone())];
    let [orgs, scores] = &writers;
    scope(|scope| {
        let stop = Stop(&[orgs, scores]);
        for writer in &writers {
            scope.spawn(|| writer.work());
        }
        scores.wait(PATIENCE);
        sleep(2 * REPLICATED_WITHIN);
        oak.switch_off();
        let lost = Instant::now();
        guide.note("the power of oak is cut");
        orgs.wait(TAKEN_MAX);
        guide.note(&format!(
            "organizations are written after {:.1} s",
            lost.elapsed().as_secs_f64()
        ));
        scores.wait(TAKEN_MAX);
        guide.note(&format!("the project is served after {:.1} s", lost.elapsed().as_secs_f64()));
        assert!(lost.elapsed() < TAKEN_MAX);
        orgs.expect_in(&client, &orgs.acknowledged(Instant::now()));
        let replicated = lost.checked_sub(REPLICATED_WITHIN).unwrap();
        scores.expect_in(&client, &scores.acknowledged(replicated));

        let fir = TestMachine::start(network, "fir", "10.0.0.7");
        fir.receive(&deb.file);
        fir.receive(&settings);
        guide.take_with(&fir, "next-server", |text| text.replace("10.0.0.6", "10.0.0.7"));
        data.run(
            "sed --in-place 's|server oak 10.0.0.5|server fir 10.0.0.7|' /etc/haproxy/haproxy.cfg\n\
             systemctl restart haproxy",
        );
        wait_until("an answer of the new server", || servers_in_use(&data) == ["elm", "fir"]);
        guide
            .note(&format!("the new server is in use after {:.1} s", lost.elapsed().as_secs_f64()));
        wait_until("the lost server is named", || {
            guide.try_take(&fir, "doctor").contains("no longer reporting: oak")
        });
        orgs.wait(PATIENCE);
        scores.wait(PATIENCE);
        drop(stop);
    });
    orgs.expect_in(&client, &orgs.acknowledged(Instant::now()));
    guide.note(&format!(
        "all {} acknowledged organizations and {} scores are there",
        orgs.acknowledged(Instant::now()).len(),
        scores.acknowledged(Instant::now()).len()
    ));
}

/// The servers to which the load balancer sends requests.
fn servers_in_use(data: &TestMachine) -> Vec<String> {
    let mut socket = UnixStream::connect(data.seen("/run/haproxy/admin.sock")).unwrap();
    socket.write_all(b"show stat\n").unwrap();
    let mut state = String::new();
    socket.read_to_string(&mut state).unwrap();
    let servers = state.lines().filter(|line| line.starts_with("lyceum,") && line.contains(",UP,"));
    let names = servers.map(|line| line.split(',').nth(1).unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| name != "BACKEND").collect();
    names.sort();
    names
}

/// Deploys a project with a database to the server itself.
fn deploy_through(server: &TestMachine) {
    let place = Place::new()
        .running(binary())
        .with("LYCEUM_URL", &format!("http://{}:4321", server.address))
        .with("LYCEUM_CLIENT_ID", "day")
        .with("LYCEUM_CLIENT_SECRET", "not-a-real-secret-1");
    deploy::project(&place);
    whole_project::write(&place);
    place.ok("deploy --env production --yes");
}
