package media

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	_ "image/gif" // decodes the first frame
	"image/jpeg"
	_ "image/png" // decodes PNG
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/riff"
	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"
	_ "golang.org/x/image/webp" // decodes WebP

	"multis/jobs"
	"multis/llm"
)

const (
	// maxBytes is the maximum size of a file that is looked at.
	maxBytes = 20 << 20
	// maxPixels limits the memory of a decoded picture, which has at most 8 bytes per pixel.
	maxPixels = 24_000_000
	// maxSide is the longest side of a picture for a model, in pixels. Providers themselves scale down larger pictures.
	maxSide = 1568
	// quality is the quality of the JPEG. Small letters can still be read in it.
	quality = 88
)

// Reasons why a picture cannot be looked at. A retry does not help.
var (
	errFormat = errors.New("it is not a picture of a kind that I know (JPEG, PNG, WebP or GIF), or it is damaged")
	errPixels = errors.New("it has too many pixels (at most 24 million)")
)

// prepare decodes a picture and encodes it again for a model: as a JPEG, upright, no larger than maxSide, without
// metadata. From an animation it takes the first frame.
func prepare(data []byte) (llm.Image, error) {
	size, err := dimensions(data)
	if err != nil || size.X <= 0 || size.Y <= 0 {
		return llm.Image{}, jobs.Permanent(errFormat)
	}
	if size.X > maxPixels/size.Y {
		return llm.Image{}, jobs.Permanent(errPixels)
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil || decoded.Bounds().Empty() {
		return llm.Image{}, jobs.Permanent(errFormat)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, upright(shrink(decoded), orientation(data)), &jpeg.Options{Quality: quality}); err != nil {
		return llm.Image{}, jobs.Permanent(errFormat)
	}
	return llm.Image{MIME: "image/jpeg", Data: out.Bytes()}, nil
}

// dimensions reads the size that the picture would have when decoded, without decoding it.
func dimensions(data []byte) (image.Point, error) {
	header, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return image.Point{}, err
	case format == "webp":
		return webpDimensions(data, image.Pt(header.Width, header.Height))
	case format == "jpeg" || format == "png" || format == "gif":
		return image.Pt(header.Width, header.Height), nil
	default:
		return image.Point{}, errFormat // the format was registered by another package
	}
}

// webpDimensions returns the larger of the size that a WebP file declares and the size of the frame in it, which may differ.
func webpDimensions(data []byte, declared image.Point) (image.Point, error) {
	_, chunks, err := riff.NewReader(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, err
	}
	for {
		id, length, chunk, err := chunks.Next()
		if err != nil {
			return image.Point{}, err
		}
		var frame image.Point
		switch string(id[:]) {
		case "VP8 ":
			frame, err = vp8Dimensions(chunk, int(length))
		case "VP8L":
			var header image.Config
			header, err = vp8l.DecodeConfig(chunk)
			frame = image.Pt(header.Width, header.Height)
		default:
			continue
		}
		return image.Pt(max(declared.X, frame.X), max(declared.Y, frame.Y)), err
	}
}

func vp8Dimensions(chunk io.Reader, length int) (image.Point, error) {
	d := vp8.NewDecoder()
	d.Init(chunk, length)
	header, err := d.DecodeFrameHeader()
	return image.Pt(header.Width, header.Height), err
}

// shrink returns a picture with no side above maxSide, with white where the picture is transparent.
func shrink(p image.Image) *image.RGBA {
	from := p.Bounds()
	width, height := from.Dx(), from.Dy()
	if longest := max(width, height); longest > maxSide {
		width, height = max(1, width*maxSide/longest), max(1, height*maxSide/longest)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(to, to.Bounds(), p, from, draw.Over, nil)
	return to
}
