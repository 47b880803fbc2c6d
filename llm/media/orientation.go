package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation returns how the camera was held, from the EXIF data of a JPEG: 1 to 8. It is 1, upright, for all other pictures.
func orientation(data []byte) int {
	const upright, startOfScan, app1 = 1, 0xDA, 0xE1
	if !bytes.HasPrefix(data, []byte{0xFF, 0xD8}) {
		return upright
	}
	for rest := data[2:]; len(rest) >= 4 && rest[0] == 0xFF && rest[1] != startOfScan; {
		length := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		if length < 4 || length > len(rest) {
			return upright
		}
		if exif, found := bytes.CutPrefix(rest[4:length], []byte("Exif\x00\x00")); found && rest[1] == app1 {
			return orientationTag(exif)
		}
		rest = rest[length:]
	}
	return upright
}

// orientationTag reads the orientation from the first directory of a TIFF header.
func orientationTag(tiff []byte) int {
	const upright, tag, header, entry = 1, 0x0112, 8, 12
	if len(tiff) < header {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			return upright
		}
		if order.Uint16(entries) == tag {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return upright
		}
		entries = entries[entry:]
	}
	return upright
}

// upright rotates and mirrors a picture that has an EXIF orientation, so that it needs none (1).
func upright(p *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return p
	}
	w, h := p.Rect.Dx(), p.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 { // width and height are swapped
		size = image.Rect(0, 0, h, w)
	}
	to := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			left, top := x, y
			right, bottom := w-1-x, h-1-y
			places := [...]image.Point{
				2: {right, top}, 3: {right, bottom}, 4: {left, bottom},
				5: {top, left}, 6: {bottom, left}, 7: {bottom, right}, 8: {top, right},
			}
			at := places[orientation]
			to.SetRGBA(at.X, at.Y, p.RGBAAt(x, y))
		}
	}
	return to
}
