//! The folder of the console's assets must exist to be embedded; without npm it stays empty.

fn main() -> std::io::Result<()> {
    let assets = "../../web/console/dist";
    println!("cargo::rerun-if-changed={assets}");
    std::fs::create_dir_all(assets)
}
