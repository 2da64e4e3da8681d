/** Weighted moments of pairs of numbers. Doubles: the sums cancel. */
export class JointMoments {
  private weights: f64 = 0
  private x: f64 = 0
  private y: f64 = 0
  private xx: f64 = 0
  private yy: f64 = 0
  private xy: f64 = 0

  reset(): void {
    this.weights = this.x = this.y = this.xx = this.yy = this.xy = 0
  }

  add(x: f64, y: f64, weight: f64): void {
    this.weights += weight
    this.x += weight * x
    this.y += weight * y
    this.xx += weight * x * x
    this.yy += weight * y * y
    this.xy += weight * x * y
  }

  /** Correlation of x and y; 0 if a variance is 0. */
  correlation(): f32 {
    if (this.weights == 0) return 0
    const norm = (this.xx - this.x * this.x / this.weights) * (this.yy - this.y * this.y / this.weights)
    return norm > 1e-9 ? <f32>((this.xy - this.x * this.y / this.weights) / Math.sqrt(norm)) : 0
  }

  /** Slope of x on y, at most 2 from 0; 0 if y does not vary. */
  slope(): f32 {
    if (this.weights == 0) return 0
    const yy = this.yy - this.y * this.y / this.weights
    return yy > 1e-3 ? <f32>max(-2.0, min(2.0, (this.xy - this.x * this.y / this.weights) / yy)) : 0
  }
}
