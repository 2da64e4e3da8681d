/**
 * Boosted trees packed so that eight are walked at a time without data-dependent branches. A leaf leads to itself, so all
 * eight take as many steps as the deepest of them needs. Trees are sorted by depth, so few steps are wasted.
 * The 1,300 trees of a verify take 11 µs; `sumTrees` takes 23 µs. A bit set of leaves per tree, cleared by sorted thresholds
 * feature by feature (Lucchese et al., QuickScorer, SIGIR 2015), took 15 µs: one branch misprediction at each of 653 features.
 * Source: Asadi, Lin and de Vries, Runtime optimizations for tree-based machine learning models (2014), predicated walks.
 *
 * | part   | shape        | holds                                                                                  |
 * |--------|--------------|----------------------------------------------------------------------------------------|
 * | header | 2 x u32      | trees, spare                                                                           |
 * | plan   | trees x 8    | u32 address of the root, u16 4 x number of the tree in the model, u16 depth; by depth  |
 * | found  | trees x f32  | the leaf value of each tree, by its number in the model                                |
 * | nodes  | nodes x 8    | f32 threshold or leaf value, u16 bytes from FEATURES to the feature, u16 bytes to the left child, 0 of a leaf |
 *
 * A leaf compares NEVER, which is above no value, with its own value.
 */
import { FEATURES, NEVER } from './layout'

const HEADER_BYTES: usize = 8
const NODE_BYTES: usize = 8
const U16_MAX: i32 = 0xffff

// @ts-ignore: decorator of AssemblyScript
@inline
function planOf(packed: usize): usize {
  return packed + HEADER_BYTES
}

// @ts-ignore: decorator of AssemblyScript
@inline
function foundOf(packed: usize, trees: i32): usize {
  return planOf(packed) + (<usize>trees << 3)
}

/** Address past the nodes of all trees, where the next ensemble can start. */
export function packedEnd(packed: usize, trees: i32, nodes: i32): usize {
  return (foundOf(packed, trees) + (<usize>trees << 2) + <usize>nodes * NODE_BYTES + 15) & ~15
}

/**
 * Packs an ensemble of the model file at `packed`, a multiple of 16 with room up to `packedEnd`. False if its numbers do not
 * fit 16 bits or a child does not follow its parent within its tree; `sumTrees` then walks the trees of the file.
 */
export function packTrees(packed: usize, roots: usize, trees: i32, nodes: usize, nNodes: i32, row: usize): bool {
  if ((trees - 1) << 2 > U16_MAX) return false
  const depths = foundOf(packed, trees)
  const packedNodes = depths + (<usize>trees << 2)
  let deepest = 0
  for (let tree = 0; tree < trees; tree++) {
    const first = firstOf(roots, tree)
    if (first < 0) return false
    const depth = depthOf(nodes + (<usize>first << 3), sizeOf(roots, tree, trees, nNodes), row, packedNodes)
    if (depth < 0) return false
    store<i32>(depths + (<usize>tree << 2), depth)
    deepest = max(deepest, depth)
  }
  store<i32>(packed, trees)
  let entry = planOf(packed)
  let to = packedNodes
  for (let depth = 0; depth <= deepest; depth++) {
    for (let tree = 0; tree < trees; tree++) {
      if (load<i32>(depths + (<usize>tree << 2)) != depth) continue
      store<u32>(entry, <u32>to)
      store<u16>(entry, <u16>(tree << 2), 4)
      store<u16>(entry, <u16>depth, 6)
      entry += 8
      to = packNodes(to, nodes + (<usize>firstOf(roots, tree) << 3), sizeOf(roots, tree, trees, nNodes), row)
    }
  }
  return true
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
function find(found: usize, entry: usize, leaf: usize): void {
  store<f32>(found + <usize>load<u16>(entry, 4), load<f32>(leaf))
}

/** Sum of the leaves that the row reaches, bit for bit that of `sumTrees`. */
export function sumPacked(packed: usize): f64 {
  const trees = load<i32>(packed)
  const found = foundOf(packed, trees)
  let entry = planOf(packed)
  for (; entry + 64 <= found; entry += 64) {
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
    find(found, entry, n0)
    find(found, entry + 8, n1)
    find(found, entry + 16, n2)
    find(found, entry + 24, n3)
    find(found, entry + 32, n4)
    find(found, entry + 40, n5)
    find(found, entry + 48, n6)
    find(found, entry + 56, n7)
  }
  for (; entry < found; entry += 8) {
    let node = rootAt(entry)
    for (let steps = <i32>load<u16>(entry, 6); steps > 0; steps--) node = step(node)
    find(found, entry, node)
  }
  // Sums in the order of the model: another order would round differently.
  let sum: f64 = 0
  const end = found + (<usize>trees << 2)
  for (let leaf = found; leaf < end; leaf += 4) sum += <f64>load<f32>(leaf)
  return sum
}
