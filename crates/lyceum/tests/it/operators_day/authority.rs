//! A certificate authority of the school, and clients that trust it.

use std::fs;

use lyceum_testserver::client::TestClient;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use serde_json::Value;

use super::LIVE;
use crate::machines::TestMachine;

/// A certificate authority of the school.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, "School");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), certificate }
    }

    /// Lets a machine have a certificate that is valid until the end of this year, where Certbot puts it.
    pub(super) fn certify(&self, machine: &TestMachine, until: i32) {
        // By the addresses, the test asks one of several machines with the same name.
        let names = ["lyceum.example.org", "10.0.0.4", "10.0.0.5", "10.0.0.6"].map(str::to_owned);
        let mut parameters = CertificateParams::new(names).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, "lyceum.example.org");
        parameters.not_after = date_time_ymd(until, 12, 31);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        let live = machine.path(LIVE);
        fs::create_dir_all(&live).unwrap();
        fs::write(live.join("fullchain.pem"), certificate + &self.certificate).unwrap();
        fs::write(live.join("privkey.pem"), key.serialize_pem()).unwrap();
    }

    /// Lets a machine trust the authority and find the server's name at an address.
    pub(super) fn introduce(&self, machine: &TestMachine, address: &str) {
        let file = machine.path("/usr/local/share/ca-certificates/school.crt");
        fs::write(file, &self.certificate).unwrap();
        machine.run(&format!(
            "update-ca-certificates; echo {address} lyceum.example.org >> /etc/hosts"
        ));
    }

    pub(super) fn client(&self, machine: &TestMachine) -> TestClient {
        let url = format!("https://{}", machine.address);
        TestClient::trusting(url, self.certificate.as_bytes())
    }
}

/// A client of the API, which is registered on a machine.
pub(super) fn sign_in(machine: &TestMachine, client: &TestClient) -> TestClient {
    machine.run(
        "set -a; . /etc/lyceum/environment; set +a\n\
         runuser -u lyceum -- lyceum client create day --id day --secret not-a-real-secret-1 \
         --config /etc/lyceum/lyceum.toml",
    );
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", "day"),
        ("client_secret", "not-a-real-secret-1"),
    ];
    let answer: Value = client.post("/oauth2/token").form(&form).expect(200).json();
    client.clone().with_token(answer["access_token"].as_str().unwrap())
}
