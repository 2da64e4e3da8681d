/**
 * Boosted trees over a row of features. A node has eight bytes, so a tree of 24 leaves is six cache lines.
 * Source: gradient boosting with leaf-wise histogram trees, Friedman (2001) and Ke et al., LightGBM (2017).
 */
import { FEATURES, LIVENESS, SYNTHESIS, f32At } from './layout'
import { sumPacked } from './packed-trees'
import {
  Sitting, fusionPacked, fusionNodes, fusionRoots, fusionTrees, laterPacked, laterNodes, laterRoots, laterTrees, livenessPacked, livenessNodes, livenessRoots, livenessTrees, lonePacked, loneNodes, loneRoots,
  loneTrees, synthesisNodes, synthesisPacked, synthesisRoots, synthesisTrees,
} from './model'

/** Sum of a sitting's fusion trees over the row in FEATURES, base excluded. */
export function sumFusion(sitting: Sitting): f64 {
  if (sitting == Sitting.later) return laterPacked != 0 ? sumPacked(laterPacked) : sumTrees(laterRoots, laterTrees, laterNodes, FEATURES)
  return fusionPacked != 0 ? sumPacked(fusionPacked) : sumTrees(fusionRoots, fusionTrees, fusionNodes, FEATURES)
}

/** Sum of the liveness trees over the row in LIVENESS, base excluded. */
export function sumLiveness(): f64 {
  return livenessPacked != 0 ? sumPacked(livenessPacked) : sumTrees(livenessRoots, livenessTrees, livenessNodes, LIVENESS)
}

/** Sum of the liveness trees for a pattern with one reference or none, base excluded. */
export function sumLoneLiveness(): f64 {
  return lonePacked != 0 ? sumPacked(lonePacked) : sumTrees(loneRoots, loneTrees, loneNodes, LIVENESS)
}

/** Sum of the synthesis trees over the row in SYNTHESIS, base excluded. */
export function sumSynthesis(): f64 {
  return synthesisPacked != 0 ? sumPacked(synthesisPacked) : sumTrees(synthesisRoots, synthesisTrees, synthesisNodes, SYNTHESIS)
}

/** From a node to the child that the row selects; a leaf leads to itself. */
// @ts-ignore: decorator of AssemblyScript
@inline
function step(root: usize, node: usize, features: usize): usize {
  const feature = <i32>load<i16>(node, 4)
  // The feature of a leaf is below 0: feature 0 is compared instead, without effect.
  const right: usize = f32At(features, max(feature, 0)) > load<f32>(node) ? 1 : 0
  return select(root + ((<usize>load<u16>(node, 6) + right) << 3), node, feature >= 0)
}

// @ts-ignore: decorator of AssemblyScript
@inline
function isLeaf(node: usize): bool {
  return load<i16>(node, 4) < 0
}

/**
 * Sum of the leaves that a row of features reaches, for trees that are not packed. Walks four trees at a time, because each step
 * waits for two loads, and the loads of one tree cannot overlap.
 */
function sumTrees(roots: usize, trees: i32, nodes: usize, features: usize): f64 {
  let sum: f64 = 0
  let i = 0
  for (; i + 4 <= trees; i += 4) {
    const at = roots + (<usize>i << 2)
    const r0 = nodes + (<usize>load<u32>(at) << 3)
    const r1 = nodes + (<usize>load<u32>(at, 4) << 3)
    const r2 = nodes + (<usize>load<u32>(at, 8) << 3)
    const r3 = nodes + (<usize>load<u32>(at, 12) << 3)
    let n0 = r0
    let n1 = r1
    let n2 = r2
    let n3 = r3
    while (!(isLeaf(n0) && isLeaf(n1) && isLeaf(n2) && isLeaf(n3))) {
      n0 = step(r0, n0, features)
      n1 = step(r1, n1, features)
      n2 = step(r2, n2, features)
      n3 = step(r3, n3, features)
    }
    // Sums in the order of the trees: another order would round differently.
    sum = sum + <f64>load<f32>(n0) + <f64>load<f32>(n1) + <f64>load<f32>(n2) + <f64>load<f32>(n3)
  }
  for (; i < trees; i++) {
    const root = nodes + (<usize>load<u32>(roots + (<usize>i << 2)) << 3)
    let node = root
    while (!isLeaf(node)) node = step(root, node, features)
    sum += <f64>load<f32>(node)
  }
  return sum
}

/** The logistic curve. */
export function logistic(x: f64): f64 {
  return 1 / (1 + Math.exp(-x))
}
