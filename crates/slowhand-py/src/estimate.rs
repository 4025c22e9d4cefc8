//! The laboratory's estimator.

use pyo3::exceptions::{PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use slowhand_lab::estimate as lab;

use crate::argument::wrong;

/// A mean and half of the width of its 95 % confidence interval.
#[pyclass(frozen, eq, from_py_object, module = "slowhand._native")]
#[derive(Clone, Copy, PartialEq)]
pub struct Estimate(lab::Estimate);

#[pymethods]
impl Estimate {
    #[new]
    #[pyo3(signature = (mean, half = 0.0))]
    fn new(mean: f64, half: f64) -> Self {
        Self(lab::Estimate { mean, half })
    }

    #[staticmethod]
    #[pyo3(signature = (values, clusters = None))]
    fn of(values: Vec<f64>, clusters: Option<Vec<u64>>) -> PyResult<Self> {
        let estimate = match clusters {
            None => lab::Estimate::of(&values),
            Some(clusters) if clusters.len() == values.len() => lab::Estimate::of_clusters(&values, &clusters),
            Some(clusters) => {
                let (found, allowed) = (clusters.len(), values.len());
                return Err(wrong("clusters", &format!("found {found}, allowed: {allowed}, one a value")));
            }
        };
        some(estimate)
    }

    #[staticmethod]
    fn mean_of(estimates: Vec<Self>) -> PyResult<Self> {
        let estimates: Vec<lab::Estimate> = estimates.into_iter().map(|estimate| estimate.0).collect();
        some(lab::Estimate::mean_of(&estimates))
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    #[getter]
    fn half(&self) -> f64 {
        self.0.half
    }

    #[getter]
    fn ci95(&self) -> Option<(f64, f64)> {
        let [low, high] = self.0.ci95();
        (self.0.half != 0.0).then_some((low, high))
    }

    fn __sub__(&self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    fn __truediv__(&self, other: Self) -> PyResult<Self> {
        if other.0.mean == 0.0 {
            return Err(PyZeroDivisionError::new_err("the mean to divide by is 0"));
        }
        Ok(Self(self.0 / other.0))
    }

    fn __repr__(&self) -> String {
        format!("Estimate({:?}, {:?})", self.0.mean, self.0.half)
    }
}

/// The value below which a share of the values lies.
#[pyfunction]
pub fn percentile(mut values: Vec<f64>, share: f64) -> PyResult<f64> {
    if !(0.0..=1.0).contains(&share) {
        return Err(wrong("share", &format!("found {share}, allowed: from 0 to 1")));
    }
    values.sort_by(f64::total_cmp);
    lab::percentile(&values, share).ok_or_else(empty)
}

fn some(estimate: Option<lab::Estimate>) -> PyResult<Estimate> {
    estimate.map(Estimate).ok_or_else(empty)
}

fn empty() -> PyErr {
    PyValueError::new_err("there are no values")
}
