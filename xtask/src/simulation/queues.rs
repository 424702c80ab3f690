//! A network of queues, simulated event by event. Times are in microseconds.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fastrand::Rng;

/// How a station serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// So many servers, such as cores, take requests from one queue in the order of arrival.
    Servers(usize),
    /// One server takes everything that waits at once, as PostgreSQL syncs the commits that wait together.
    Batch,
    /// No queue: each request takes its time beside the others, such as a way over the network.
    Delay,
}

/// A part of the system that requests pass.
#[derive(Clone, Debug)]
pub struct Station {
    /// The name in tables.
    pub name: &'static str,
    /// How it serves.
    pub discipline: Discipline,
    /// Whether each node has one of its own.
    pub is_of_each_node: bool,
}

/// A visit of a request to a station.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The index of the station.
    pub station: usize,
    /// The mean of the exponentially distributed service time.
    pub mean_us: f64,
}

/// Requests of one kind.
#[derive(Clone, Debug)]
pub struct RequestKind {
    /// The name in tables.
    pub name: &'static str,
    /// The share of all requests.
    pub share: f64,
    /// Its visits in order.
    pub visits: Vec<Visit>,
}

/// Stations and the requests that pass them.
#[derive(Clone, Debug)]
pub struct Network {
    /// The nodes, among which requests are distributed in turn.
    pub nodes: usize,
    /// The stations.
    pub stations: Vec<Station>,
    /// The kinds of requests; their shares add up to 1.
    pub kinds: Vec<RequestKind>,
}

/// When requests arrive.
#[derive(Clone, Copy, Debug)]
pub enum Arrivals {
    /// At random, so many per second on average, as from many people.
    PerSecond(f64),
    /// So many clients send the next request as soon as they have the answer, as a load generator does.
    Clients(usize),
}

/// What a simulation found, without its first fifth, in which the queues fill.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Requests that were completed per second.
    pub completed_per_s: f64,
    /// The times from arrival to completion, ascending.
    pub latencies_us: Vec<f64>,
}

impl Outcome {
    /// The latency that the share of the requests does not exceed.
    pub fn quantile_us(&self, share: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let at = (as_real(self.latencies_us.len() - 1) * share).round() as usize;
        self.latencies_us[at]
    }

    /// The mean latency.
    pub fn mean_us(&self) -> f64 {
        self.latencies_us.iter().sum::<f64>() / as_real(self.latencies_us.len())
    }
}

impl Network {
    /// The requests per second at which a station with servers is busy all the time, and its name: the lowest of all.
    /// A batch takes any number of requests, so it sets no limit.
    pub fn saturation(&self) -> (f64, &'static str) {
        let limit = |(index, station): (usize, &Station)| {
            let Discipline::Servers(servers) = station.discipline else {
                return (f64::INFINITY, station.name);
            };
            let stations = if station.is_of_each_node { self.nodes } else { 1 };
            let busy_us: f64 = self.kinds.iter().map(|kind| kind.share * kind.us_at(index)).sum();
            (1e6 * as_real(servers * stations) / busy_us, station.name)
        };
        let limits = self.stations.iter().enumerate().map(limit);
        limits.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a network has stations")
    }

    /// Simulates so many requests. The same seed gives the same outcome.
    pub fn simulate(&self, arrivals: Arrivals, requests: usize, seed: u64) -> Outcome {
        Simulation::new(self, arrivals, requests, seed).run()
    }
}

impl RequestKind {
    fn us_at(&self, station: usize) -> f64 {
        self.visits.iter().filter(|visit| visit.station == station).map(|visit| visit.mean_us).sum()
    }
}

struct Request {
    arrived_us: f64,
    kind: usize,
    node: usize,
    visits_done: usize,
}

/// The queue of one station, or of one node's part of it.
#[derive(Default)]
struct StationQueue {
    waiting: VecDeque<usize>,
    busy: usize,
}

/// Something that happens at a time. Events of the same time happen in the order in which they were planned.
#[derive(PartialEq)]
struct Event {
    at_us: f64,
    number: usize,
    what: EventKind,
}

#[derive(PartialEq)]
enum EventKind {
    Arrival,
    /// The requests have been served at their station.
    Served(Vec<usize>),
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_us.total_cmp(&other.at_us).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct Simulation<'a> {
    network: &'a Network,
    arrivals: Arrivals,
    /// The requests that arrive in all.
    total: usize,
    random: Rng,
    now_us: f64,
    events: BinaryHeap<Reverse<Event>>,
    planned: usize,
    requests: Vec<Request>,
    /// By station, then by node.
    queues: Vec<Vec<StationQueue>>,
    completed: Vec<(f64, f64)>,
}

impl<'a> Simulation<'a> {
    fn new(network: &'a Network, arrivals: Arrivals, total: usize, seed: u64) -> Self {
        let queues = |station: &Station| {
            let count = if station.is_of_each_node { network.nodes } else { 1 };
            std::iter::repeat_with(StationQueue::default).take(count).collect()
        };
        Self {
            network,
            arrivals,
            total,
            random: Rng::with_seed(seed),
            now_us: 0.0,
            events: BinaryHeap::new(),
            planned: 0,
            requests: Vec::new(),
            queues: network.stations.iter().map(queues).collect(),
            completed: Vec::new(),
        }
    }

    fn run(mut self) -> Outcome {
        let first = match self.arrivals {
            Arrivals::PerSecond(_) => 1,
            Arrivals::Clients(clients) => clients,
        };
        for _ in 0..first {
            self.plan(0.0, EventKind::Arrival);
        }
        while let Some(Reverse(event)) = self.events.pop() {
            self.now_us = event.at_us;
            match event.what {
                EventKind::Arrival => self.arrive(),
                EventKind::Served(served) => self.leave_station(&served),
            }
        }
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        let counted = self.completed.split_off(self.completed.len() / 5);
        let (first, last) = (counted[0].0, counted[counted.len() - 1].0);
        let mut latencies_us: Vec<f64> = counted.iter().map(|(_, latency)| *latency).collect();
        latencies_us.sort_by(f64::total_cmp);
        let completed_per_s = as_real(latencies_us.len() - 1) / (last - first) * 1e6;
        Outcome { completed_per_s, latencies_us }
    }

    fn arrive(&mut self) {
        if self.requests.len() == self.total {
            return;
        }
        if let Arrivals::PerSecond(rate) = self.arrivals {
            let wait = self.exponential(1e6 / rate);
            self.plan(wait, EventKind::Arrival);
        }
        let mut left = self.random.f64();
        let shares = self.network.kinds.iter().map(|kind| kind.share);
        let kind = shares
            .take_while(|share| {
                left -= share;
                left >= 0.0
            })
            .count();
        let kind = kind.min(self.network.kinds.len() - 1);
        let request = self.requests.len();
        let node = request % self.network.nodes;
        self.requests.push(Request { arrived_us: self.now_us, kind, node, visits_done: 0 });
        self.enter_station(request);
    }

    fn visit(&self, request: usize) -> Option<Visit> {
        let Request { kind, visits_done, .. } = self.requests[request];
        self.network.kinds[kind].visits.get(visits_done).copied()
    }

    fn queue(&mut self, station: usize, node: usize) -> &mut StationQueue {
        let queues = &mut self.queues[station];
        let own = node % queues.len();
        &mut queues[own]
    }

    fn enter_station(&mut self, request: usize) {
        let Some(visit) = self.visit(request) else {
            let latency = self.now_us - self.requests[request].arrived_us;
            self.completed.push((self.now_us, latency));
            if matches!(self.arrivals, Arrivals::Clients(_)) {
                self.plan(0.0, EventKind::Arrival);
            }
            return;
        };
        if self.network.stations[visit.station].discipline == Discipline::Delay {
            let time = self.exponential(visit.mean_us);
            self.plan(time, EventKind::Served(vec![request]));
            return;
        }
        let node = self.requests[request].node;
        self.queue(visit.station, node).waiting.push_back(request);
        self.serve_next(visit.station, node);
    }

    /// Lets free servers of a station take requests that wait.
    fn serve_next(&mut self, station: usize, node: usize) {
        let discipline = self.network.stations[station].discipline;
        let queue = self.queue(station, node);
        let taken: Vec<usize> = match discipline {
            Discipline::Servers(servers) if queue.busy < servers => {
                queue.waiting.pop_front().into_iter().collect()
            }
            Discipline::Batch if queue.busy == 0 => queue.waiting.drain(..).collect(),
            _ => return,
        };
        let Some(&first) = taken.first() else { return };
        queue.busy += 1;
        let mean_us = self.visit(first).expect("it is at a station").mean_us;
        let time = self.exponential(mean_us);
        self.plan(time, EventKind::Served(taken));
    }

    fn leave_station(&mut self, served: &[usize]) {
        let (visit, node) =
            (self.visit(served[0]).expect("it was at a station"), self.requests[served[0]].node);
        if self.network.stations[visit.station].discipline != Discipline::Delay {
            self.queue(visit.station, node).busy -= 1;
        }
        for &request in served {
            self.requests[request].visits_done += 1;
            self.enter_station(request);
        }
        self.serve_next(visit.station, node);
    }

    fn plan(&mut self, in_us: f64, what: EventKind) {
        self.planned += 1;
        let event = Event { at_us: self.now_us + in_us, number: self.planned, what };
        self.events.push(Reverse(event));
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
pub fn as_real(count: usize) -> f64 {
    count as f64
}
