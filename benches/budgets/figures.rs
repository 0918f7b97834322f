//! Samples and the table of results.

use std::io::Write;

/// Repeated measurements.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The value that `part` of all samples do not exceed.
    pub fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1]
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn max(&self) -> f64 {
        self.quantile(1.0)
    }
}

/// What a figure is compared with.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    AtMost(f64),
    AtLeast(f64),
    /// For comparison only.
    None,
}

/// Prints figures as they arrive.
pub struct Table {
    missed: usize,
    held: usize,
}

impl Table {
    pub fn begin() -> Table {
        println!("{:<58} {:>12}  {:>12}", "what", "measured", "budget");
        Table { missed: 0, held: 0 }
    }

    pub fn section(&self, name: &str) {
        println!("\n{name}");
    }

    pub fn row(&mut self, what: &str, value: f64, unit: &str, budget: Budget) {
        let (bound, verdict) = match budget {
            Budget::AtMost(most) => (format!("<= {most} {unit}"), Some(value <= most)),
            Budget::AtLeast(least) => (format!(">= {least} {unit}"), Some(value >= least)),
            Budget::None => (String::new(), None),
        };
        let verdict = match verdict {
            Some(true) => "PASS",
            Some(false) => "MISS",
            None => "",
        };
        self.held += usize::from(verdict == "PASS");
        self.missed += usize::from(verdict == "MISS");
        let shown = format!("{value:.*} {unit}", if value.abs() < 100.0 { 2 } else { 0 });
        println!("  {:<56} {:>12}  {:>12}  {verdict}", what, shown, bound);
        std::io::stdout().flush().unwrap();
    }

    pub fn end(self) {
        println!("\n{} budgets held, {} missed", self.held, self.missed);
    }
}
