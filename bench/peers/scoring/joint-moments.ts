const { fround } = Math

/** Weighted moments of pairs of numbers (`assembly/joint-moments.ts`). */
export class JointMoments {
  private weights = 0
  private x = 0
  private y = 0
  private xx = 0
  private yy = 0
  private xy = 0

  reset(): void {
    this.weights = this.x = this.y = this.xx = this.yy = this.xy = 0
  }

  add(x: number, y: number, weight: number): void {
    this.weights += weight
    this.x += weight * x
    this.y += weight * y
    this.xx += weight * x * x
    this.yy += weight * y * y
    this.xy += weight * x * y
  }

  /** 0 if a variance is 0. */
  correlation(): number {
    if (this.weights === 0) return 0
    const norm = (this.xx - (this.x * this.x) / this.weights) * (this.yy - (this.y * this.y) / this.weights)
    return norm > 1e-9 ? fround((this.xy - (this.x * this.y) / this.weights) / Math.sqrt(norm)) : 0
  }

  /** Slope of x on y, at most 2 from 0; 0 if y does not vary. */
  slope(): number {
    if (this.weights === 0) return 0
    const yy = this.yy - (this.y * this.y) / this.weights
    const slope = (this.xy - (this.x * this.y) / this.weights) / yy
    return yy > 1e-3 ? fround(Math.max(-2, Math.min(2, slope))) : 0
  }
}
