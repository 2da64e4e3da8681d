/**
 * A module of its own, for the fit of a model: the loops that take most of its time. The host writes the input to memory from `START` on,
 * grows the memory as it needs, and reads the output from it.
 */

/** First address for the host. */
export const START: i32 = 65536

/**
 * Histograms of `columns` columns of bins over some rows. A column is `all` bytes, one a row. `sums` has four f32 a row, `rows` the
 * numbers of `n` rows. If `rows` is 0, the rows are the first `n`. Writes 256 bins of four f32 a column to `out`: the sums of the rows in the bin.
 */
export function histograms(bins: usize, all: i32, columns: i32, sums: usize, rows: usize, n: i32, out: usize): void {
  memory.fill(out, 0, <usize>columns << 12)
  for (let column = 0; column < columns; column++) {
    const bin = bins + <usize>column * <usize>all
    const into = out + (<usize>column << 12)
    if (rows == 0) {
      for (let i: usize = 0; i < <usize>n; i++) {
        const at = into + (<usize>load<u8>(bin + i) << 4)
        v128.store(at, f32x4.add(v128.load(at), v128.load(sums + (i << 4))))
      }
    } else {
      for (let i: usize = 0; i < <usize>n; i++) {
        const row = <usize>load<u32>(rows + (i << 2))
        const at = into + (<usize>load<u8>(bin + row) << 4)
        v128.store(at, f32x4.add(v128.load(at), v128.load(sums + (row << 4))))
      }
    }
  }
}

/**
 * Writes the products of `m` rows at `a` with `n` rows at `b`, of `width` f32 each, to `out`, `m` x `n`. All three counts are multiples
 * of four. Computes four by four at a time, so that each number that is read is used four times.
 */
export function products(a: usize, b: usize, out: usize, m: i32, n: i32, width: i32): void {
  assert(((m | n | width) & 3) == 0)
  const stride = <usize>width << 2
  const row = <usize>n << 2
  for (let i = 0; i < m; i += 4) {
    const a0 = a + <usize>i * stride
    for (let j = 0; j < n; j += 4) {
      const b0 = b + <usize>j * stride
      let s00 = f32x4.splat(0), s01 = s00, s02 = s00, s03 = s00, s10 = s00, s11 = s00, s12 = s00, s13 = s00
      let s20 = s00, s21 = s00, s22 = s00, s23 = s00, s30 = s00, s31 = s00, s32 = s00, s33 = s00
      for (let k: usize = 0; k < stride; k += 16) {
        const x0 = v128.load(a0 + k), x1 = v128.load(a0 + stride + k)
        const x2 = v128.load(a0 + 2 * stride + k), x3 = v128.load(a0 + 3 * stride + k)
        let y = v128.load(b0 + k)
        s00 = f32x4.add(s00, f32x4.mul(x0, y))
        s10 = f32x4.add(s10, f32x4.mul(x1, y))
        s20 = f32x4.add(s20, f32x4.mul(x2, y))
        s30 = f32x4.add(s30, f32x4.mul(x3, y))
        y = v128.load(b0 + stride + k)
        s01 = f32x4.add(s01, f32x4.mul(x0, y))
        s11 = f32x4.add(s11, f32x4.mul(x1, y))
        s21 = f32x4.add(s21, f32x4.mul(x2, y))
        s31 = f32x4.add(s31, f32x4.mul(x3, y))
        y = v128.load(b0 + 2 * stride + k)
        s02 = f32x4.add(s02, f32x4.mul(x0, y))
        s12 = f32x4.add(s12, f32x4.mul(x1, y))
        s22 = f32x4.add(s22, f32x4.mul(x2, y))
        s32 = f32x4.add(s32, f32x4.mul(x3, y))
        y = v128.load(b0 + 3 * stride + k)
        s03 = f32x4.add(s03, f32x4.mul(x0, y))
        s13 = f32x4.add(s13, f32x4.mul(x1, y))
        s23 = f32x4.add(s23, f32x4.mul(x2, y))
        s33 = f32x4.add(s33, f32x4.mul(x3, y))
      }
      const at = out + (<usize>(i * n + j) << 2)
      v128.store(at, f32x4(sum(s00), sum(s01), sum(s02), sum(s03)))
      v128.store(at + row, f32x4(sum(s10), sum(s11), sum(s12), sum(s13)))
      v128.store(at + 2 * row, f32x4(sum(s20), sum(s21), sum(s22), sum(s23)))
      v128.store(at + 3 * row, f32x4(sum(s30), sum(s31), sum(s32), sum(s33)))
    }
  }
}

// @ts-ignore: decorator
@inline
function sum(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3))
}
