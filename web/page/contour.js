/* contour.js: triangles between points of a plane (Delaunay), and lines of equal height on them. */

/**
 * Delaunay triangles by adding one point after the other (Bowyer, Watson 1981).
 * @param {Array<[number, number]>} points  all different; scaled by the caller to like ranges
 * @returns {Array<[number, number, number]>} numbers of points
 */
function triangulate(points) {
    const n = points.length;
    const all = [...points, [-1e3, -1e3], [3e3, -1e3], [-1e3, 3e3]];
    /** @typedef {{corners: [number, number, number], x: number, y: number, r2: number}} Triangle */
    /**
     * @param {number} a
     * @param {number} b
     * @param {number} c
     * @returns {Triangle|null}
     */
    const make = (a, b, c) => {
        const [[ax, ay], [bx, by], [cx, cy]] = [all[a], all[b], all[c]];
        const d = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by));
        if (Math.abs(d) < 1e-12) return null;
        const [sa, sb, sc] = [ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy];
        const x = (sa * (by - cy) + sb * (cy - ay) + sc * (ay - by)) / d;
        const y = (sa * (cx - bx) + sb * (ax - cx) + sc * (bx - ax)) / d;
        return { corners: [a, b, c], x, y, r2: (ax - x) ** 2 + (ay - y) ** 2 };
    };
    let triangles = [/** @type {Triangle} */ (make(n, n + 1, n + 2))];
    for (let p = 0; p < n; p++) {
        /** @type {Map<string, [number, number]>} */
        const border = new Map();
        triangles = triangles.filter((one) => {
            if ((all[p][0] - one.x) ** 2 + (all[p][1] - one.y) ** 2 > one.r2 * (1 + 1e-12)) return true;
            const [a, b, c] = one.corners;
            for (const [from, to] of /** @type {Array<[number, number]>} */ ([[a, b], [b, c], [c, a]])) {
                const key = from < to ? `${from} ${to}` : `${to} ${from}`;
                if (!border.delete(key)) border.set(key, [from, to]);
            }
            return false;
        });
        for (const [from, to] of border.values()) {
            const added = make(from, to, p);
            if (added) triangles.push(added);
        }
    }
    return triangles.map((one) => one.corners).filter((corners) => corners.every((k) => k < n));
}

/**
 * Pieces of the line on which heights, linear on each triangle, are `level`.
 * @param {Array<[number, number]>} points
 * @param {Array<[number, number, number]>} triangles
 * @param {number[]} heights
 * @param {number} level
 * @returns {Array<[[number, number], [number, number]]>}
 */
function contourPieces(points, triangles, heights, level) {
    /** @type {Array<[[number, number], [number, number]]>} */
    const pieces = [];
    for (const [a, b, c] of triangles) {
        /** @type {Array<[number, number]>} */
        const ends = [];
        for (const [i, j] of [[a, b], [b, c], [c, a]]) {
            if (heights[i] > level === heights[j] > level) continue;
            const part = (level - heights[i]) / (heights[j] - heights[i]);
            ends.push([
                points[i][0] + part * (points[j][0] - points[i][0]),
                points[i][1] + part * (points[j][1] - points[i][1])
            ]);
        }
        if (ends.length === 2) pieces.push([ends[0], ends[1]]);
    }
    return pieces;
}
