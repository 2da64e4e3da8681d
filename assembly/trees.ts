/**
 * Boosted trees over a row of features. Eight bytes a node, so that a tree of 24 leaves is six cache lines.
 * Source: gradient boosting with leaf-wise histogram trees, Friedman (2001) and Ke et al., LightGBM (2017).
 */
import { f32At } from './layout'

/** Sum of the leaves that a row of features falls into. */
export function sumTrees(roots: usize, trees: i32, nodes: usize, features: usize): f64 {
  let sum: f64 = 0
  for (let i = 0; i < trees; i++) {
    const root = nodes + (<usize>load<u32>(roots + (<usize>i << 2)) << 3)
    let node = root
    let feature = <i32>load<i16>(node, 4)
    while (feature >= 0) {
      const right = f32At(features, feature) > load<f32>(node) ? 1 : 0
      node = root + ((<usize>load<u16>(node, 6) + right) << 3)
      feature = <i32>load<i16>(node, 4)
    }
    sum += <f64>load<f32>(node)
  }
  return sum
}

/** The logistic curve. */
export function logistic(x: f64): f64 {
  return 1 / (1 + Math.exp(-x))
}
