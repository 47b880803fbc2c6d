package vision

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	_ "image/gif" // reads the first frame
	"image/jpeg"
	_ "image/png" // a format that image.Decode reads
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/riff"
	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"
	_ "golang.org/x/image/webp" // a format that image.Decode reads

	"multis/jobs"
	"multis/llm"
)

const (
	// maxBytes is the largest file that is looked at.
	maxBytes = 20 << 20
	// maxPixels bounds the memory of a decoded picture, to at most 8 bytes a pixel.
	maxPixels = 24_000_000
	// maxSide is the longest side of what a model gets, in pixels. Providers scale larger pictures down themselves.
	maxSide = 1568
	// quality is that of the JPEG, in which small letters can still be read.
	quality = 88
)

// Why a picture cannot be looked at. A retry does not help.
var (
	errFormat = errors.New("it is no picture of a kind that I know (JPEG, PNG, WebP or GIF), or it is damaged")
	errPixels = errors.New("it has too many pixels (24 million at most)")
)

// prepare decodes a picture and encodes it anew for a model: as a JPEG, upright, no larger than maxSide, without any metadata. Of an animation it takes
// the first frame.
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

// dimensions reads the size that decoding a picture would take, without decoding it.
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
		return image.Point{}, errFormat // another package has registered it
	}
}

// webpDimensions returns the larger one of the size that a WebP file declares and that of the frame in it, which may differ.
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

// shrink returns a picture with no side above maxSide, on white where it is transparent.
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
