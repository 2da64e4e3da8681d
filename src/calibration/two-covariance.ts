import { type TwoCovariance, VECTOR_SIZE } from './model-file.js'

type Matrix = Float64Array[]
const zeros = (n: number): Matrix => Array.from({ length: n }, () => new Float64Array(n))
const at = (m: Matrix, i: number, j: number): number => m[i]?.[j] ?? 0

/** An axis with a between-person variance below this share of one person's variance separates nobody (model/notebook.md). */
const BETWEEN_MIN = 0.02

/** People of one source with the vectors of their patterns, and the weight of the source. */
export interface VectorGroup {
  readonly weight: number
  readonly people: readonly (readonly Float32Array[])[]
}

/**
 * The two-covariance model of pattern vectors: mean, the projection that whitens the within-person covariance and
 * diagonalises the between-person covariance, and the diagonal of the latter, best axes first. The covariances of each group are
 * computed separately and mixed by weight; people with fewer than two vectors are excluded. `ridge` is the share by which the
 * within-person covariance shrinks to its diagonal, so that a rare habit is invertible. Source: Brummer and De Villiers
 * (Odyssey 2010).
 */
export function fitTwoCovariance(groups: readonly VectorGroup[], ridge: number): TwoCovariance {
  const d = VECTOR_SIZE
  const total = groups.reduce((sum, { weight }) => sum + weight, 0)
  const mean = new Float64Array(d)
  const within = zeros(d)
  const between = zeros(d)
  for (const { weight, people } of groups) {
    const share = weight / total
    const own = covariancesOf(people)
    for (let i = 0; i < d; i++) {
      mean[i] = (mean[i] ?? 0) + share * (own.mean[i] ?? 0)
      for (let j = 0; j < d; j++) {
        const drawn = at(own.within, i, j) * (i === j ? 1 : 1 - ridge)
        set(within, i, j, at(within, i, j) + share * (drawn + (i === j ? 1e-5 : 0)))
        set(between, i, j, at(between, i, j) + share * (at(own.between, i, j) - drawn * own.invSessions))
      }
    }
  }
  const inverse = invertLower(cholesky(within))
  const { values, vectors } = eigen(multiply(multiply(inverse, between), transpose(inverse)))
  const order = Array.from(values.keys()).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
  const axes = multiply(transpose(vectors), inverse)
  return {
    mean: Float32Array.from(mean),
    projection: Float32Array.from(order.flatMap((axis) => Array.from(axes[axis] ?? []))),
    betweenVariances: Float32Array.from(order, (axis) => {
      const between = values[axis] ?? 0
      return between < BETWEEN_MIN ? 0 : between
    }),
  }
}

/** Mean, covariance within people, covariance of their means, and the mean of 1 / number of vectors. */
function covariancesOf(people: VectorGroup['people']) {
  const used = people.filter((vectors) => vectors.length > 1)
  const means = used.map((vectors) => meanOf(vectors))
  const mean = meanOf(means)
  const within = zeros(VECTOR_SIZE)
  const between = zeros(VECTOR_SIZE)
  let degrees = 0
  let invSessions = 0
  used.forEach((vectors, i) => {
    for (const vector of vectors) addOuter(within, difference(vector, means[i] ?? mean))
    degrees += vectors.length - 1
    invSessions += 1 / vectors.length / used.length
  })
  for (const own of means) addOuter(between, difference(own, mean))
  for (const row of within) for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) / degrees
  for (const row of between) for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) / (used.length - 1)
  return { mean, within, between, invSessions }
}

function meanOf(vectors: readonly ArrayLike<number>[]): Float64Array {
  const mean = new Float64Array(VECTOR_SIZE)
  for (const vector of vectors) for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (vector[i] ?? 0)
  return mean.map((sum) => sum / vectors.length)
}

const difference = (a: ArrayLike<number>, b: ArrayLike<number>): Float64Array =>
  Float64Array.from({ length: VECTOR_SIZE }, (_, i) => (a[i] ?? 0) - (b[i] ?? 0))

function set(m: Matrix, i: number, j: number, value: number): void {
  const row = m[i]
  if (row !== undefined) row[j] = value
}

function addOuter(m: Matrix, x: Float64Array): void {
  m.forEach((row, i) => {
    const xi = x[i] ?? 0
    for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) + xi * (x[j] ?? 0)
  })
}

const transpose = (m: Matrix): Matrix => m.map((_, i) => Float64Array.from(m, (row) => row[i] ?? 0))

function multiply(a: Matrix, b: Matrix): Matrix {
  return a.map((row) => {
    const out = new Float64Array(row.length)
    row.forEach((value, k) => {
      for (let j = 0; j < out.length; j++) out[j] = (out[j] ?? 0) + value * at(b, k, j)
    })
    return out
  })
}

/** Lower triangle L with m = L Lᵀ. */
function cholesky(m: Matrix): Matrix {
  const l = zeros(m.length)
  for (let i = 0; i < m.length; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = at(m, i, j)
      for (let k = 0; k < j; k++) sum -= at(l, i, k) * at(l, j, k)
      set(l, i, j, i === j ? Math.sqrt(Math.max(sum, 1e-9)) : sum / at(l, j, j))
    }
  }
  return l
}

function invertLower(l: Matrix): Matrix {
  const out = zeros(l.length)
  for (let column = 0; column < l.length; column++) {
    for (let i = column; i < l.length; i++) {
      let sum = i === column ? 1 : 0
      for (let k = column; k < i; k++) sum -= at(l, i, k) * at(out, k, column)
      set(out, i, column, sum / at(l, i, i))
    }
  }
  return out
}

/** Eigenvalues, and eigenvectors as columns, of a symmetric matrix by cyclic Jacobi rotations (Golub and Van Loan, 8.5). */
function eigen(symmetric: Matrix): { readonly values: Float64Array; readonly vectors: Matrix } {
  const m = symmetric.map((row) => row.slice())
  const n = m.length
  const vectors = zeros(n)
  for (let i = 0; i < n; i++) set(vectors, i, i, 1)
  for (let sweep = 0; sweep < 12; sweep++) {
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(at(m, p, q)) < 1e-12) continue
        const theta = (at(m, q, q) - at(m, p, p)) / (2 * at(m, p, q))
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1))
        const c = 1 / Math.hypot(t, 1)
        const s = t * c
        const rotation = { p, q, c, s }
        for (let k = 0; k < n; k++) rotate(m[k], rotation)
        const [rowP, rowQ] = [m[p], m[q]]
        if (rowP === undefined || rowQ === undefined) continue
        for (let k = 0; k < n; k++) {
          const [a, b] = [rowP[k] ?? 0, rowQ[k] ?? 0]
          rowP[k] = c * a - s * b
          rowQ[k] = s * a + c * b
        }
        for (let k = 0; k < n; k++) rotate(vectors[k], rotation)
      }
    }
  }
  return { values: Float64Array.from(m, (row, i) => row[i] ?? 0), vectors }
}

function rotate(row: Float64Array | undefined, { p, q, c, s }: Readonly<Record<'p' | 'q' | 'c' | 's', number>>): void {
  if (row === undefined) return
  const [a, b] = [row[p] ?? 0, row[q] ?? 0]
  row[p] = c * a - s * b
  row[q] = s * a + c * b
}
