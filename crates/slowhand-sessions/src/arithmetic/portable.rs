//! The arithmetic of the crate `p256`, for processors without assembly: several times as fast as that of the libraries in C, and
//! its results go into the same memo.

use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::sec1::{FromSec1Point, ToSec1Point};
use p256::{AffinePoint, ProjectivePoint, Scalar, Sec1Point};

use super::{NUMBER, Number, Point};

pub(super) fn multiply(scalar: &Number, point: Option<&Point>) -> Option<Point> {
    let scalar = read_scalar(scalar)?;
    let point = point.map_or(Some(ProjectivePoint::GENERATOR), read_point)?;
    octets(point * scalar)
}

pub(super) fn multiply_add(of_generator: &Number, of_point: &Number, point: &Point) -> Option<Point> {
    let [of_generator, of_point] = [of_generator, of_point].map(read_scalar);
    octets(ProjectivePoint::GENERATOR * of_generator? + read_point(point)? * of_point?)
}

pub(super) fn invert(number: &Number) -> Option<Number> {
    let inverse: Option<Scalar> = read_scalar(number)?.invert().into();
    Some(inverse?.to_repr().into())
}

/// `None` if the number is not less than the order of the group.
fn read_scalar(number: &Number) -> Option<Scalar> {
    Scalar::from_repr((*number).into()).into()
}

/// `None` if the point is not on the curve.
fn read_point(point: &Point) -> Option<ProjectivePoint> {
    let (x, y) = point.split_at(NUMBER);
    let point = Sec1Point::from_affine_coordinates(x.try_into().ok()?, y.try_into().ok()?, false);
    Option::<AffinePoint>::from(AffinePoint::from_sec1_point(&point)).map(ProjectivePoint::from)
}

/// `None` if the point is infinite: it has one octet.
fn octets(point: ProjectivePoint) -> Option<Point> {
    point.to_affine().to_sec1_point(false).as_bytes().get(1..)?.try_into().ok()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::assembly;
    use super::*;

    #[test]
    fn results_are_those_of_the_assembly() {
        let numbers = [[0; NUMBER], [1; NUMBER], [0x5A; NUMBER]];
        let point = assembly::multiply(&[7; NUMBER], None).unwrap();
        let not_on_curve = [3; 2 * NUMBER];
        for number in &numbers {
            for point in [None, Some(&point), Some(&not_on_curve)] {
                assert_eq!(multiply(number, point), assembly::multiply(number, point));
            }
        }
        let [_, one, other] = &numbers;
        assert_eq!([invert(one), invert(other)], [assembly::invert(one), assembly::invert(other)]);
        assert_eq!(multiply_add(one, other, &point), assembly::multiply_add(one, other, &point));
        assert!(multiply_add(one, other, &point).is_some());
    }
}
