//! Compression for clients that accept it.

use std::io::Read;

use lyceum_testserver::client::Reply;
use lyceum_testserver::server::both_as;

use crate::probe;

#[test]
fn long_texts_are_compressed_on_request() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let get = |path: &str, accept: &str| -> Reply {
            client.get(path).header("accept-encoding", accept).expect(200)
        };
        let plain = client.get("/probe/text/70000").expect(200);
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(plain.body.len(), 70_002);
        for encoding in ["gzip", "br", "zstd"] {
            let packed = get("/probe/text/70000", encoding);
            assert_eq!(packed.header("content-encoding"), encoding);
            assert!(packed.header("vary").to_lowercase().contains("accept-encoding"));
            assert!(packed.body.len() < 3500, "{encoding}: {} bytes", packed.body.len());
            assert_eq!(unpack(encoding, &packed.body), plain.body, "{encoding}");
        }
        for accept in ["identity", "gzip;q=0", "compress"] {
            assert_eq!(get("/probe/text/70000", accept).header("content-encoding"), "");
        }
        assert_eq!(get("/probe/text/700", "gzip").header("content-encoding"), "", "too short");
    });
}

#[test]
fn constant_answers_have_compressed_copies() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        for path in ["/openapi.json", "/docs/settings", "/docs/limits.md", "/llms.txt"] {
            let plain = client.get(path).expect(200);
            assert_eq!(plain.header("content-encoding"), "", "{path}");
            for (encoding, accepted) in [("gzip", "deflate, gzip"), ("br", "gzip, br")] {
                let get = || client.get(path).header("accept-encoding", accepted).expect(200);
                let packed = get();
                assert_eq!(packed.header("content-encoding"), encoding, "{path}");
                assert_eq!(packed.header("vary").to_lowercase(), "accept-encoding", "{path}");
                assert_eq!(packed.header("content-length"), packed.body.len().to_string());
                assert_eq!(unpack(encoding, &packed.body), plain.body, "{path} {encoding}");
                assert_eq!(get().body, packed.body, "{path}");
            }
        }
        for accepted in ["identity", "br;q=0, gzip;q=0"] {
            let reply = client.get("/openapi.json").header("accept-encoding", accepted).expect(200);
            assert_eq!(reply.header("content-encoding"), "");
        }
    });
}

#[test]
fn compression_can_be_switched_off() {
    let mut setup = probe::setup();
    setup.config.server.compression = false;
    both_as(&setup, |server| {
        let client = server.anonymous();
        let reply = client.get("/probe/text/70000").header("accept-encoding", "gzip").expect(200);
        assert_eq!(reply.header("content-encoding"), "");
    });
}

fn unpack(encoding: &str, packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match encoding {
        "gzip" => flate2::read::GzDecoder::new(packed).read_to_end(&mut plain),
        "br" => brotli::Decompressor::new(packed, 4096).read_to_end(&mut plain),
        _ => zstd::Decoder::new(packed).unwrap().read_to_end(&mut plain),
    }
    .unwrap();
    plain
}
