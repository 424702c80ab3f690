//! Feeds a target with mutations of a corpus for a bounded time.

use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;

/// Bytes of an input at most.
const INPUT_MAX_BYTES: usize = 4096;
/// No single input may take longer: the targets are linear.
const INPUT_MAX_TIME: Duration = Duration::from_secs(2);

/// Memory that the test process takes at its peak, in KiB, at most.
const PEAK_MAX_KIB: u64 = 1024 * 1024;

/// Runs the target on mutations of the corpus: 3 seconds, in a soak 300. A panic of the target fails
/// the test; so does an input that takes it more than two seconds, and more than 1 GiB of memory.
pub fn run(name: &str, corpus: &[&[u8]], mut target: impl FnMut(&[u8])) {
    let budget = Duration::from_secs(if crate::full_size() { 300 } else { 1 });
    let mut random = RandomStream::seeded(0x1d2c_3b4a);
    let mut pool: Vec<Vec<u8>> = corpus.iter().map(|input| input.to_vec()).collect();
    let began = Instant::now();
    let mut inputs = 0_u64;
    while began.elapsed() < budget {
        let input = mutated(&mut random, &pool);
        let start = Instant::now();
        target(&input);
        let took = start.elapsed();
        assert!(
            took < INPUT_MAX_TIME,
            "{name}: {took:?} for {:?}",
            String::from_utf8_lossy(&input)
        );
        inputs += 1;
        // Now and then a mutation becomes a parent, so that changes add up.
        if random.below(50) == 0 {
            let at = corpus.len() + usize_below(&mut random, 256);
            if at < pool.len() { pool[at] = input } else { pool.push(input) }
        }
    }
    let peak = peak_kib();
    assert!(peak < PEAK_MAX_KIB, "{name}: {peak} KiB of memory");
    #[expect(clippy::print_stderr, reason = "a fuzz run tells how much it tried")]
    let () = eprintln!("fuzz {name}: {inputs} inputs in {} s, {peak} KiB", budget.as_secs());
}

/// Resident memory of this process at its peak; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    peak.unwrap_or(0)
}

fn mutated(random: &mut RandomStream, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut input = random.pick(pool).clone();
    for _ in 0..=random.below(6) {
        let at = usize_below(random, input.len() + 1);
        match random.below(5) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => {
                input.remove(at);
            }
            2 => {
                let piece = random.pick(pool);
                let from = usize_below(random, piece.len() + 1);
                let to = from + usize_below(random, piece.len() - from + 1);
                input.splice(at..at, piece[from..to].iter().copied());
            }
            3 => {
                let end = at + usize_below(random, input.len() - at + 1);
                input.drain(at..end);
            }
            _ => input.insert(at, u8::try_from(random.below(256)).expect("it is below 256")),
        }
    }
    input.truncate(INPUT_MAX_BYTES);
    input
}

fn usize_below(random: &mut RandomStream, bound: usize) -> usize {
    usize::try_from(random.below(bound.max(1) as u64)).expect("it is below a usize")
}
