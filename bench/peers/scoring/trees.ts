import type { Trees } from './model.js'

/** From a node to the child that a row of features selects; a leaf leads to itself. */
function step({ features, values, children }: Trees, row: Float32Array, node: number): number {
  const feature = features[node] ?? -1
  return feature < 0 ? node : (children[node] ?? 0) + Number((row[feature] ?? 0) > (values[node] ?? 0))
}

/**
 * Sum of the leaves that a row of features reaches, in the order of the trees. Walks four trees at a time in less than half the
 * time, since one alone waits for memory at each step.
 */
export function sumTrees(trees: Trees, row: Float32Array): number {
  const { roots, features, values } = trees
  const isOpen = (node: number) => (features[node] ?? -1) >= 0
  let sum = 0
  let tree = 0
  for (; tree + 4 <= roots.length; tree += 4) {
    let a = roots[tree] ?? 0
    let b = roots[tree + 1] ?? 0
    let c = roots[tree + 2] ?? 0
    let d = roots[tree + 3] ?? 0
    while (isOpen(a) || isOpen(b) || isOpen(c) || isOpen(d)) {
      a = step(trees, row, a)
      b = step(trees, row, b)
      c = step(trees, row, c)
      d = step(trees, row, d)
    }
    sum = sum + (values[a] ?? 0) + (values[b] ?? 0) + (values[c] ?? 0) + (values[d] ?? 0)
  }
  for (; tree < roots.length; tree++) {
    let node = roots[tree] ?? 0
    while (isOpen(node)) node = step(trees, row, node)
    sum += values[node] ?? 0
  }
  return sum
}

/** The logistic curve. */
export const logistic = (x: number): number => 1 / (1 + Math.exp(-x))
